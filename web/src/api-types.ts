/** The HTTP API in types, generated from the server's OpenAPI by `make api-types`. Do not edit. */

export interface paths {
    "/api/annotations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Annotations
         * @description All notes and tags that hold now.
         */
        get: operations["annotations"];
        put?: never;
        /**
         * Annotate
         * @description Write a note or a tag, or remove a tag.
         */
        post: operations["annotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/beginnings/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Beginning
         * @description Stop reading the files, and delete them.
         */
        post: operations["cancel_beginning"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/beginnings/{beginning}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Beginning State
         * @description How far a new session is.
         */
        get: operations["beginning_state"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/clips/{index}.mp4": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Clip
         * @description One trajectory's video, made if it is not there, which takes time.
         *
         *     A participant gets it without tags and times, which may tell whose it is.
         */
        get: operations["clip"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/clips/{index}/cameras/{camera}.mp4": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Camera Clip
         * @description The same as one of several cameras recorded it, by the place of the camera.
         */
        get: operations["camera_clip"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/clips/{index}/cameras/{camera}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Camera Clip Status
         * @description As for the video of all cameras.
         */
        get: operations["camera_clip_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/clips/{index}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Clip Status
         * @description Whether a video can be played now, how far its preparation is, or why it cannot be played.
         */
        get: operations["clip_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/display": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Display
         * @description How the study's trajectories are shown.
         */
        get: operations["display"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/enter": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enter
         * @description Sign in with a link's secret, which is kept in a cookie that no script can read.
         */
        post: operations["enter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export/answers.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Csv
         * @description The active answers, one a row.
         */
        get: operations["export_csv"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export/answers.parquet": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Parquet
         * @description The same as a Parquet file.
         */
        get: operations["export_parquet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export/everything.zip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Everything
         * @description All files that can be downloaded, in one.
         */
        get: operations["export_everything"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export/report.html": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Report
         * @description The report of the session, as one page.
         */
        get: operations["export_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export/reward.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Reward
         * @description The learned reward, for `prefero.load_reward`.
         */
        get: operations["export_reward"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export/trajectories.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Trajectories
         * @description The trajectories with their features, rewards, notes and tags, one a row.
         */
        get: operations["export_trajectories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * History
         * @description Every answer, deleted ones too.
         */
        get: operations["history"];
        put?: never;
        /**
         * Change History
         * @description Delete an answer, restore it, or undo it, so that it is asked again.
         */
        post: operations["change_history"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/learning-summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Learning Summary
         * @description What was learned so far.
         */
        get: operations["learning_summary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/leave": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Leave
         * @description Sign out: delete the cookie.
         */
        post: operations["leave"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Me
         * @description Who sends this request.
         */
        get: operations["me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/phone": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Phone
         * @description How a phone opens the page of this session.
         */
        get: operations["phone"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pool": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Pool
         * @description A page of the trajectories, sorted and filtered, with what is known of each.
         */
        get: operations["pool"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pool/question": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Choose Question
         * @description Ask about trajectories that were chosen by hand.
         */
        post: operations["choose_question"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pool/question/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Withdraw Question
         * @description Take back a question that was chosen by hand, so that the model asks again.
         */
        post: operations["withdraw_question"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pool/{index}/thumbnail.jpg": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Thumbnail
         * @description A small image of a trajectory that is shown as a video; nothing is cut or rendered for it.
         */
        get: operations["thumbnail"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Progress
         * @description How far every participant of the study is.
         */
        get: operations["progress"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/reward": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reward
         * @description The best trajectory under the learned reward, and how to use the reward.
         */
        get: operations["reward"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Session
         * @description What the page shows now.
         */
        get: operations["session"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer
         * @description Record an answer or a skip; when this returns, it is on disk.
         */
        post: operations["answer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/prefetch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Prefetch
         * @description Trajectories that may be shown next, so that the page can load them early.
         */
        get: operations["prefetch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/reasons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give Reason
         * @description Record why an answer was given, or take that back.
         */
        post: operations["give_reason"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/rest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rest
         * @description A window shows this session no longer: nothing more is prepared for it.
         */
        post: operations["rest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/stages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit Stage
         * @description Record consent, target scores, the practice answer or a rating.
         */
        post: operations["submit_stage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo
         * @description Take the last answer or skip back.
         */
        post: operations["undo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sessions
         * @description All teaching sessions, and what a new one can be about.
         */
        get: operations["sessions"];
        put?: never;
        /**
         * Begin Session
         * @description Begin a session about a world or an upload; `/api/beginnings` says how far it is.
         */
        post: operations["begin_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive Session
         * @description Put a session away from the list, or bring it back.
         */
        post: operations["archive_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/copy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Copy Of Session
         * @description Another session with the same trajectories and settings, and if wanted with the answers.
         */
        post: operations["copy_of_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open Session
         * @description By which name requests are about a session: that of the person who taught in it first.
         */
        post: operations["open_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/rename": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rename Session
         * @description Give a session another name.
         */
        post: operations["rename_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change Session Settings
         * @description Change what a session asks from now on; its answers stay.
         */
        post: operations["change_session_settings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/stopping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stopping
         * @description Whether five more answers would change little.
         */
        get: operations["stopping"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/teaching": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Teaching
         * @description Where the answers are stored, and how to come back.
         */
        get: operations["teaching"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trajectories/{index}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Trajectory
         * @description One trajectory of the pool.
         */
        get: operations["trajectory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trajectories/{index}/signals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Signals
         * @description The signals of one trajectory over time, and its features; none where only its video is known.
         */
        get: operations["signals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin Upload
         * @description Begin to send files.
         */
        post: operations["begin_upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Upload
         * @description Delete an upload.
         */
        post: operations["cancel_upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/uploads/chunk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add Chunk
         * @description Add the body to a file, which has `offset` bytes so far.
         */
        post: operations["add_chunk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/what-if": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reward At
         * @description The learned reward at a place, and the nearest trajectory.
         */
        post: operations["reward_at"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description How many of `total` trajectories are acceptable, where the bar lies, and which are nearest to it. */
        AcceptableTrajectories: {
            bar: components["schemas"]["Estimate"];
            count: components["schemas"]["Estimate"];
            nearest: components["schemas"]["RankedTrajectory"][];
            total: number;
        };
        /** @description All notes and tags of a teacher, and the tags in use, the most frequent first. */
        Annotations: {
            questions: components["schemas"]["WrittenRemarks"][];
            tags: components["schemas"]["TagCount"][];
            trajectories: components["schemas"]["WrittenRemarks"][];
        };
        /**
         * @description An answer to a question, or that the participant skips it; `key` makes a repeated request harmless.
         *
         *     kind   "skip", or a choice of the question's kind
         */
        AnswerOrSkip: {
            key: string;
            kind: string;
            question: number;
            seconds?: number | null;
        };
        /**
         * @description A trajectory that was labelled; `place` is its place on the axes of the picture.
         *
         *     level   from 0, the lowest level, to 1, the highest; of "none is acceptable", 0 for each trajectory
         */
        AnsweredLabel: {
            item: number;
            level: number;
            number: number;
            place: number[];
            question: number;
        };
        /**
         * @description Two trajectories that were compared; `places` are theirs on the axes of the picture.
         *
         *     An answer about more than two is several pairs, the better one on the left.
         */
        AnsweredPair: {
            /** @enum {string} */
            choice: "left" | "right" | "equal";
            items: number[];
            number: number;
            places: number[][];
            question: number;
        };
        /** @description Put a session away from the list, or bring it back. */
        Archiving: {
            archived: boolean;
            name: string;
        };
        /**
         * @description What an arena has found.
         *
         *     sentences   what is known, in words
         *     standings   the policies, the strongest first
         *     report      the command that writes the report
         */
        ArenaResult: {
            report: string;
            sentences: string[];
            standings: components["schemas"]["PolicyStanding"][];
        };
        /**
         * @description How far an arena is, and nothing that depends on what was answered: a probability tells who leads.
         *
         *     answers     of all judges
         *     questions   after so many answers the arena ends at the latest
         *     result      at the end, for the judge who runs the arena; None before, and for judges who were invited
         */
        ArenaState: {
            answers: number;
            questions: number;
            result: components["schemas"]["ArenaResult"] | null;
        };
        /**
         * @description How far a new session is.
         *
         *     text      what is being done
         *     done, total   how much of it; total is 0 while that is not known
         *     name      of the session, once it has begun
         *     problem   why it did not begin, in words for the person; "" if it did
         */
        Beginning: {
            done: number;
            id: string;
            name: string;
            problem: string;
            /** @enum {string} */
            stage: "working" | "begun" | "failed";
            text: string;
            total: number;
        };
        /** @description A session that is being begun. */
        BeginningName: {
            beginning: string;
        };
        /**
         * @description The trajectory of the pool with the highest expected reward; `id` is null where it has none.
         *
         *     `certainty` says in words how sure it is that no other one is better.
         */
        BestTrajectory: {
            certainty: string;
            id: string | null;
            index: number;
            mean: number;
            std: number;
        };
        /**
         * @description Where a solid scene is seen from; `fov` is the vertical field of view in degrees.
         *
         *     `name` tells it from others of the scene.
         */
        Camera: {
            eye: [
                number,
                number,
                number
            ];
            fov: number;
            /** @constant */
            kind: "camera";
            name?: string;
            target: [
                number,
                number,
                number
            ];
        };
        /** @description A thick line with round ends in the plane; a disc where both ends are the same. */
        Capsule: {
            color: string;
            end: [
                number,
                number
            ];
            radius: number;
            /** @constant */
            shape: "capsule";
            start: [
                number,
                number
            ];
        };
        /** @description One rule that the answers meet, and the numbers that it was judged by. */
        CarelessSign: {
            /** @enum {string} */
            kind: "fast" | "one side" | "alternating" | "one level" | "retests";
            reason: string;
        };
        /** @description Other settings of a session: all of them, those too that stay as they are. */
        ChangedSettings: {
            answers: string;
            goal: number | null;
            name: string;
            questions: number;
            task_description: string;
            words: string[];
        };
        /** @description Trajectories that a teacher chose by hand, by index, to be asked about next. */
        ChosenItems: {
            items: number[];
            key: string;
        };
        /**
         * @description Whether a clip can be played now; while it is being prepared, how many of its `total` frames are done.
         *
         *     problem   why it cannot be played; null unless the state is "failed"
         */
        ClipStatus: {
            frames: number;
            problem: string | null;
            /** @enum {string} */
            state: "ready" | "preparing" | "failed";
            total: number | null;
        };
        /**
         * @description Trajectories are shown as videos.
         *
         *     `cameras` are those whose images are side by side in them, if there are several: a person may choose one.
         */
        ClipsDisplay: {
            cameras?: string[];
            features: components["schemas"]["Feature"][];
            /** @constant */
            kind: "clips";
            subject: string;
            task_description: string;
        };
        /** @description A session with the same trajectories and settings under a new name, perhaps with the same answers. */
        Copying: {
            answers: boolean;
            name: string;
            new: string;
        };
        /** @description The reward at one value of a feature: its mean, and one standard deviation below and above. */
        CurvePoint: {
            high: number;
            low: number;
            mean: number;
            x: number;
        };
        /** @description There is nothing more to say. */
        Done: {
            done: boolean;
        };
        /**
         * @description The trajectories of a pool in which a component is lowest and highest.
         *
         *     Args:
         *         low: The index of the lowest.
         *         high: The index of the highest.
         *         low_id: Its id, or its index in words where it has none.
         *         high_id: The same of the highest.
         */
        Ends: {
            high: number;
            high_id: string;
            low: number;
            low_id: string;
        };
        /** @description A secret from a link. */
        Entry: {
            secret: string;
        };
        /** @description The body of every error. */
        ErrorBody: {
            error: components["schemas"]["Problem"];
        };
        /**
         * @description A quantity that depends on the reward: its expectation, and a 90 % interval.
         *
         *     Args:
         *         mean: The expectation.
         *         low: The lower end of the interval.
         *         high: The upper end.
         */
        Estimate: {
            high: number;
            low: number;
            mean: number;
        };
        /**
         * @description A feature's name and unit.
         *
         *     A category has levels, and its value is the place of one of them. A number is ordered and has no levels.
         */
        Feature: {
            levels: string[];
            name: string;
            ordered: boolean;
            unit: string;
        };
        /**
         * @description How much a feature matters, and the reward along it with all others at their mean.
         *
         *     `ends` are the trajectories that show what a component of an embedding is; null for other features.
         *     `effect` is null for features that are left out, where there are many. A category has `levels`, and a
         *     point of the curve for each, whose x is the place of the level.
         */
        FeatureEffect: {
            curve: components["schemas"]["CurvePoint"][];
            effect: components["schemas"]["Estimate"] | null;
            ends: components["schemas"]["Ends"] | null;
            levels: string[];
            name: string;
            unit: string;
        };
        /** @description The reward over two features: mean and std have a row for each of `ys`, a column for each of `xs`. */
        FeatureMap: {
            mean: number[][];
            std: number[][];
            x: string;
            xs: number[];
            y: string;
            ys: number[];
        };
        /** @description A feature with its lowest and its highest value in the pool. */
        FeatureRange: {
            high: number;
            levels: string[];
            low: number;
            name: string;
            ordered: boolean;
            unit: string;
        };
        /** @description Trajectories are shown by their features alone; `no_video` says why, where there could be videos. */
        FeaturesDisplay: {
            features: components["schemas"]["FeatureRange"][];
            /** @constant */
            kind: "features";
            no_video: string;
            subject: string;
            task_description: string;
        };
        /** @description The name and the number of bytes of a file. */
        FileToUpload: {
            name: string;
            size: number;
        };
        /** @description A rigid part of a flat scene; `label` is written beside it, `trail`: draw the path behind it. */
        FlatPart: {
            label: string;
            moves: boolean;
            name: string;
            shapes: (components["schemas"]["Polygon"] | components["schemas"]["Capsule"])[];
            trail: boolean;
        };
        /**
         * @description A scene in two dimensions.
         *
         *     `frame_time` is the time from one pose to the next in seconds; `main_part` is the part that people judge.
         */
        FlatScene: {
            background: string;
            /** @constant */
            dimensions: 2;
            format: number;
            frame_time: number;
            main_part: string | null;
            parts: components["schemas"]["FlatPart"][];
            view: components["schemas"]["Window"];
        };
        /** @description A note, a tag, or that a tag is removed, about a trajectory or about a question and its answer. */
        GivenAnnotation: {
            key: string;
            /** @enum {string} */
            kind: "note" | "tag" | "untag";
            question?: number | null;
            text: string;
            trajectory?: number | null;
        };
        /** @description The feature that is the reason of an answer, one of those that were offered; null takes it back. */
        GivenReason: {
            feature: string | null;
            key: string;
            question: number;
        };
        /** @description Every answer in the order of the questions, deleted ones too. */
        History: {
            answers: components["schemas"]["PastAnswer"][];
        };
        /** @description Delete an answer of the history, restore a deleted one, or undo it, so that it is asked again. */
        HistoryChange: {
            key: string;
            /** @enum {string} */
            kind: "delete" | "restore" | "undo";
            question: number;
        };
        /**
         * @description What a source says, in words, and how far the answers confirm it.
         *
         *     support    the mean probability that what it says is right; null while it is too early to say
         *     agreeing   of a score, with how many of `compared` answers its order agrees; both are 0 for other sources
         *     trusted    whether it probably tells something about the reward; true while it is too early to say
         */
        KnownBefore: {
            agreeing: number;
            compared: number;
            says: string;
            source: string;
            support: number | null;
            trusted: boolean;
        };
        /** @description The expected accuracy after so many answers. */
        LearningCurvePoint: {
            accuracy: number;
            answers: number;
        };
        /**
         * @description Everything that the page shows of the learning; `accuracy` is null while it is too early to say.
         *
         *     `acceptable` is null too, and where no answer has said what is. `known` is empty where nothing was known
         *     before the first question. `worst` are different trajectories among those with the lowest reward, the
         *     worst first, and `sample` are those that stand for the pool in charts.
         */
        LearningSummary: {
            acceptable: components["schemas"]["AcceptableTrajectories"] | null;
            accuracy: components["schemas"]["Estimate"] | null;
            answers: number;
            enough_answers: number;
            expected_gain: number;
            feature_maps: components["schemas"]["FeatureMap"][];
            features: components["schemas"]["FeatureEffect"][];
            hint: string;
            known: components["schemas"]["KnownBefore"][];
            learning_curve: components["schemas"]["LearningCurvePoint"][];
            question_map: components["schemas"]["QuestionMap"];
            ranking: components["schemas"]["RankedTrajectory"][];
            sample: components["schemas"]["PoolSample"];
            statements: components["schemas"]["Statement"][];
            surprises: components["schemas"]["SurprisingAnswer"][];
            worst: components["schemas"]["RankedTrajectory"][];
        };
        /**
         * @description Who sent the request; the role is null without a valid link.
         *
         *     `study` is null for participants too: the name of a study may tell what they must not know.
         *     Requests that change a session name it in the header X-Prefero-Session. `manages` is true for the person
         *     who runs the server: they open and change all teaching sessions, and may have opened none yet.
         */
        Me: {
            manages: boolean;
            role: ("teacher" | "participant" | "experimenter") | null;
            session: string | null;
            study: string | null;
            version: string;
        };
        /** @description A surface of triangles: x, y, z of each vertex, and three vertices a face, both flattened. */
        Mesh: {
            color: string;
            faces: number[];
            /** @constant */
            shape: "mesh";
            vertices: number[];
        };
        /** @description The trajectory that is most like a place, with its own reward and features. */
        NearestTrajectory: {
            id: string | null;
            index: number;
            mean: number;
            std: number;
            values: {
                [key: string]: number;
            };
        };
        /** @description A session to begin: about a world, or about an upload; without a name it gets one. */
        NewSession: {
            answers?: string | null;
            name?: string;
            task_description?: string;
            trajectories?: number | null;
            upload?: string | null;
            world?: string | null;
        };
        /** @description The files of an upload. */
        NewUpload: {
            files: components["schemas"]["FileToUpload"][];
        };
        /** @description A feature that may be why the last answer was given, and whether more or less of it would be better. */
        OfferedReason: {
            /** @enum {string} */
            better: "higher" | "lower";
            feature: string;
        };
        /** @description The likely reasons of the answer to a question, and the feature that was named, if one was. */
        OfferedReasons: {
            named: string | null;
            question: number;
            reasons: components["schemas"]["OfferedReason"][];
        };
        /** @description The name of a teaching session, and that by which requests are about it. */
        OpenedSession: {
            name: string;
            session: string;
        };
        /** @description The score that the participant gave a target. */
        OwnScore: {
            color: string;
            label: string;
            score: number;
        };
        /**
         * @description One participant's.
         *
         *     stage              None until the participant opens the link
         *     answered           active answers, of the `total` that the protocol asks for
         *     left_fraction      the fraction of the answers that preferred the left trajectory, ties aside
         *     retest_agreement   the fraction of retest questions that were answered as the first time
         *     careless_signs     reasons to doubt that the participant looked: see `attention`
         */
        ParticipantProgress: {
            answered: number;
            careless_signs: components["schemas"]["CarelessSign"][];
            label: string;
            last_seen: string | null;
            left_fraction: number | null;
            median_seconds: number | null;
            retest_agreement: number | null;
            stage: ("consent" | "instructions" | "target_scores" | "practice" | "compare" | "rate" | "done") | null;
            started: string | null;
            total: number;
        };
        /**
         * @description An answer of the history; `number` is its place among the answered questions, from 1.
         *
         *     `items` are the trajectories by index, and `ids` by their ids or file names, null where they have none.
         *     `words` are those for the levels of a label, the lowest first. `because` is the feature that was named as
         *     the reason, `selection` how the question was chosen, and `note` and `tags` are what was written about it.
         */
        PastAnswer: {
            at: string;
            because: string | null;
            choice: string;
            deleted: boolean;
            ids: string[] | null;
            items: number[];
            kind: string;
            note: string;
            number: number;
            question: number;
            seconds: number | null;
            /** @enum {string} */
            selection: "best" | "quick" | "random" | "by-hand";
            tags: string[];
            words: string[];
        };
        /**
         * @description How a phone opens the page: a link, as text and as the rows of a QR code; or the command for that.
         *
         *     `rows` have 1 for a dark square and 0 for a light one. Without a link, only this machine reaches the
         *     server.
         */
        Phone: {
            command: string;
            link: string | null;
            rows: string[];
        };
        /** @description Where the sliders are: values of features, at a trajectory or at the average one if it is null. */
        Place: {
            start?: number | null;
            values?: {
                [key: string]: number;
            };
        };
        /**
         * @description What is known about one policy of an arena.
         *
         *     strength           expected, with a 90 % interval from low to high; the average of the policies is 0
         *     passes, fails      how often a rollout was said to be acceptable, and not to be
         *     success            the probability that a rollout passes, with a 90 % interval; None if nobody said so
         *     better_than_next   the probability that it is better than the policy after it; None for the last one
         */
        PolicyStanding: {
            better_than_next: number | null;
            fails: number;
            high: number;
            losses: number;
            low: number;
            passes: number;
            policy: string;
            strength: number;
            success: number | null;
            success_high: number | null;
            success_low: number | null;
            ties: number;
            wins: number;
        };
        /** @description A filled outline in the plane. */
        Polygon: {
            color: string;
            points: [
                number,
                number
            ][];
            /** @constant */
            shape: "polygon";
        };
        /**
         * @description One page of the trajectories that fit, of which there are `matching` among `total`.
         *
         *     enough_answers   so many answers are needed before there are rewards
         *     sizes            how many trajectories can be chosen for a question of this session
         *     tags             in use, the most frequent first
         *     features         with their ranges in the pool
         */
        PoolPage: {
            answers: number;
            enough_answers: number;
            features: components["schemas"]["FeatureRange"][];
            matching: number;
            sizes: number[];
            tags: components["schemas"]["TagCount"][];
            total: number;
            trajectories: components["schemas"]["PoolTrajectory"][];
        };
        /**
         * @description Some trajectories of a pool, in the order of their indices.
         *
         *     ids      null where the pool has none
         *     mean     of their rewards, in standard deviations above the average trajectory; none while it is too early
         *     std      of the uncertainty of the same
         *     values   of each feature, by its name; of a category, the places of its levels
         */
        PoolSample: {
            ids: string[] | null;
            items: number[];
            mean: number[];
            std: number[];
            values: {
                [key: string]: number[];
            };
        };
        /** @description A trajectory on its card; `id` is null where there are none, and rewards are while it is too early. */
        PoolTrajectory: {
            acceptable: number | null;
            features: {
                [key: string]: number;
            };
            id: string | null;
            index: number;
            mean: number | null;
            note: string;
            shown: number;
            std: number | null;
            tags: string[];
        };
        /** @description Trajectories that may be shown after the next answer; `complete` is false while more are computed. */
        Prefetch: {
            complete: boolean;
            trajectories: number[];
        };
        /** @description What went wrong: a code for programs, a message for people. */
        Problem: {
            code: string;
            message: string;
        };
        /** @description Where the questions were asked, on axes by the names of features. */
        QuestionMap: {
            axes: string[];
            labels: components["schemas"]["AnsweredLabel"][];
            pairs: components["schemas"]["AnsweredPair"][];
        };
        /**
         * @description A trajectory of the pool and its reward; rank 1 is the best, and `id` is null without ids.
         *
         *     The feature of a category is the place of its level. `acceptable` is the probability of that, and null
         *     where no answer has said what is.
         */
        RankedTrajectory: {
            acceptable: number | null;
            features: {
                [key: string]: number;
            };
            id: string | null;
            index: number;
            mean: number;
            rank: number;
            std: number;
        };
        /** @description The trajectory that the participant rates now: `number` of `total`, on a scale. */
        Rating: {
            highest: number;
            lowest: number;
            number: number;
            total: number;
            trajectory: number;
        };
        /** @description Another name for a session. */
        Renaming: {
            name: string;
            new: string;
        };
        /**
         * @description Poses of the scene's moving parts, one list a time.
         *
         *     A pose is x, y, angle in a flat scene; x, y, z and the quaternion w, x, y, z in a solid one.
         */
        Replay: {
            format: number;
            frame_time: number;
            poses: number[][][];
        };
        /**
         * @description The learned reward: its best trajectory, what it looks like, and Python code that uses it.
         *
         *     `best` is null while there are too few answers to say.
         */
        RewardSummary: {
            answers: number;
            best: components["schemas"]["BestTrajectory"] | null;
            python: string;
            statements: components["schemas"]["Statement"][];
        };
        /** @description Trajectories are replayed in this scene; each lasts so many seconds. */
        SceneDisplay: {
            features: components["schemas"]["Feature"][];
            /** @constant */
            kind: "scene";
            scene: components["schemas"]["FlatScene"] | components["schemas"]["SolidScene"];
            seconds: number;
            subject: string;
            task_description: string;
        };
        /** @description The teaching sessions, and what a new one can be about: worlds, or files with these suffixes. */
        SessionList: {
            accepted: string[];
            sessions: components["schemas"]["TeachingSession"][];
            worlds: components["schemas"]["WorldChoice"][];
        };
        /** @description A teaching session. */
        SessionName: {
            name: string;
        };
        /**
         * @description Everything that the page needs to show now; None where the stage has no such part.
         *
         *     task_description   what to do, in a sentence; it is shown above every question
         *     own_scores         the participant's scores of the targets, highest first; None before they are given
         *     answered           active answers
         *     total              questions that the protocol asks
         *     accuracy           the fraction of answers that is expected to be predicted; None in a study: participants
         *                        see nothing of the model; and while it is too early to say
         *     goal               the fraction at which a teacher wants to stop, and the page asks whether to go on
         *     kinds              of answers that the protocol asks for; of several, the usual one first
         *     items              how many trajectories the question shows
         *     choices            the answers to the question; of a ranking, which is any order of the items, only "none"
         *                        if that is an answer too
         *     ties               whether "about equal" is an answer, and items may have the same place in a ranking
         *     words              for the levels of a label, the lowest first; none where trajectories are compared
         *     undoable           the question whose answer or skip can be taken back now
         *     reasons            of the answer that was just given, of which the person may name one; None where there
         *                        are none to choose from, or nothing would be learned from them
         *     watch_to_end       whether a question waits for an answer until its items were shown to their end
         *     arena              how far the arena is, if this is one
         */
        SessionState: {
            accuracy: number | null;
            answered: number;
            arena: components["schemas"]["ArenaState"] | null;
            can_skip: boolean;
            choices: string[];
            goal: number | null;
            items: number;
            kinds: string[];
            own_scores: components["schemas"]["OwnScore"][] | null;
            question: components["schemas"]["ShownQuestion"] | null;
            rating: components["schemas"]["Rating"] | null;
            reasons: components["schemas"]["OfferedReasons"] | null;
            /** @enum {string} */
            stage: "consent" | "instructions" | "target_scores" | "practice" | "compare" | "rate" | "done";
            target_scores: components["schemas"]["TargetScores"] | null;
            task_description: string;
            text: string | null;
            ties: boolean;
            title: string;
            total: number;
            undoable: number | null;
            watch_to_end: boolean;
            words: string[];
        };
        /**
         * @description The question that waits for an answer.
         *
         *     id       names it in requests; 0 for the practice question
         *     number   counts the participant's questions from 1; 0 for the practice question
         *     items    the trajectories to compare, by index, in the order in which they are shown
         *     kind     of the answer that is wanted
         *     value    of the acquisition function, in `unit`; None in a study: participants see nothing of the model
         *     by_hand  whether a teacher chose the trajectories
         */
        ShownQuestion: {
            by_hand: boolean;
            id: number;
            items: number[];
            kind: string;
            number: number;
            unit: string | null;
            value: number | null;
        };
        /** @description A number over time: its values at some times, in seconds from the start of the trajectory. */
        Signal: {
            name: string;
            times: number[];
            unit: string;
            values: number[];
        };
        /** @description A rigid part of a solid scene; `label` is written beside it, `trail`: draw the path behind it. */
        SolidPart: {
            label: string;
            moves: boolean;
            name: string;
            shapes: components["schemas"]["Mesh"][];
            trail: boolean;
        };
        /**
         * @description A scene in three dimensions.
         *
         *     `frame_time` is the time from one pose to the next in seconds; `main_part` is the part that people judge.
         *     `cameras` are those that a person may choose, the one of `view` first; none if there is no choice.
         */
        SolidScene: {
            background: string;
            cameras?: components["schemas"]["Camera"][];
            /** @constant */
            dimensions: 3;
            format: number;
            frame_time: number;
            main_part: string | null;
            parts: components["schemas"]["SolidPart"][];
            view: components["schemas"]["Camera"];
        };
        /** @description What the participant did at a stage other than comparing: consent, scores, practice, a rating. */
        StageSubmission: {
            data?: {
                [key: string]: unknown;
            };
            key: string;
            /** @enum {string} */
            stage: "consent" | "instructions" | "target_scores" | "practice" | "rate";
        };
        /**
         * @description A sentence about the reward, and what its number means.
         *
         *     Args:
         *         sentence: The sentence.
         *         meaning: What its number means.
         */
        Statement: {
            meaning: string;
            sentence: string;
        };
        /**
         * @description Whether five more answers would change little, with the numbers behind it; see `Learner.can_stop`.
         *
         *     ahead   how many more answers the gain is about
         */
        StopAdvice: {
            accuracy: components["schemas"]["Estimate"];
            ahead: number;
            answers: number;
            can_stop: boolean;
            gain: number;
        };
        /** @description How far the participants of a study are. */
        StudyProgress: {
            finished: number;
            invited: number;
            participants: components["schemas"]["ParticipantProgress"][];
            study: string;
            title: string;
        };
        /** @description An answer that is improbable given all others. */
        SurprisingAnswer: {
            choice: string;
            items: number[];
            kind: string;
            number: number;
            probability: number;
            question: number;
        };
        /** @description A tag that is in use, and on how many trajectories and answers. */
        TagCount: {
            count: number;
            tag: string;
        };
        /** @description The targets that the participant gives different whole numbers, from lowest to highest. */
        TargetScores: {
            colors: string[];
            highest: number;
            labels: string[];
            lowest: number;
        };
        /** @description A person who teaches in a session; `session` is the name by which requests are about it. */
        Teacher: {
            answers: number;
            label: string;
            session: string;
        };
        /**
         * @description How a teacher comes back: the command, and where the answers are stored.
         *
         *     by_link   whether the teacher signed in with a link, and so can sign out
         */
        TeachingPlace: {
            by_link: boolean;
            command: string;
            stored_in: string;
        };
        /**
         * @description A line of the list.
         *
         *     shown   how trajectories are shown: as a scene, as clips, or by their features
         *     used    when it was answered last, or begun
         */
        TeachingSession: {
            answers: number;
            archived: boolean;
            name: string;
            people: components["schemas"]["Teacher"][];
            settings: components["schemas"]["TeachingSettings"];
            shown: string;
            task_description: string;
            title: string;
            trajectories: number;
            used: string;
        };
        /**
         * @description What can be changed without losing an answer.
         *
         *     answers     the kind of answers: "pair", "rate-5", several as in "pair, rate-5", or "auto"
         *     questions   how many the teacher plans to answer
         *     words       those for the levels of a label, the lowest first; empty: the usual ones
         *     goal        the fraction of predicted answers at which the page stops asking; null: it does not
         */
        TeachingSettings: {
            answers: string;
            goal: number | null;
            questions: number;
            task_description: string;
            words: string[];
        };
        /** @description One trajectory: its features by name, and its replay where the pool has a scene. */
        TrajectoryDetails: {
            features: {
                [key: string]: number;
            };
            replay: components["schemas"]["Replay"] | null;
        };
        /**
         * @description What is known of a trajectory over time, and of the whole of it.
         *
         *     signals      none where nothing is known over time
         *     left_out     how many more signals there are
         *     ranges       of its features, each with the lowest and the highest value in the pool
         *     values       of its features, by name
         *     deviations   standard deviations of the features over the pool, by name; categories have none
         */
        TrajectorySignals: {
            deviations: {
                [key: string]: number;
            };
            left_out: number;
            ranges: components["schemas"]["FeatureRange"][];
            signals: components["schemas"]["Signal"][];
            values: {
                [key: string]: number;
            };
        };
        /** @description Take the last answer or skip back, which is that of this question. */
        Undo: {
            key: string;
            question: number;
        };
        /** @description A new upload: its files are sent in chunks of so many bytes, and kept under these names. */
        Upload: {
            chunk: number;
            id: string;
            names: string[];
        };
        /** @description An upload. */
        UploadName: {
            upload: string;
        };
        /** @description How many bytes of a file are there. */
        Uploaded: {
            size: number;
        };
        /**
         * @description The reward at a place, in standard deviations above the average trajectory.
         *
         *     values        of all features at the place, by name
         *     better_than   the fraction of the pool's trajectories with a lower reward, with a 90 % interval
         *     far           whether nothing in the pool is like it, so that the reward is extrapolated
         */
        WhatIf: {
            better_than: components["schemas"]["Estimate"];
            far: boolean;
            mean: number;
            nearest: components["schemas"]["NearestTrajectory"];
            std: number;
            values: {
                [key: string]: number;
            };
        };
        /**
         * @description The visible rectangle of a flat scene.
         *
         *     It moves up and down with the part it follows, and sideways as far as is needed to show that part. Most of
         *     what it shows at first stays in view: if the part goes farther, the window becomes wider.
         */
        Window: {
            bottom: number;
            follow: string | null;
            /** @constant */
            kind: "window";
            left: number;
            right: number;
            top: number;
        };
        /** @description A world that a new session can be about. */
        WorldChoice: {
            name: string;
            task_description: string;
        };
        /** @description What holds of a trajectory, by its index, or of a question, by its id. */
        WrittenRemarks: {
            note: string;
            of: number;
            tags: string[];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type AcceptableTrajectories = components['schemas']['AcceptableTrajectories'];
export type Annotations = components['schemas']['Annotations'];
export type AnswerOrSkip = components['schemas']['AnswerOrSkip'];
export type AnsweredLabel = components['schemas']['AnsweredLabel'];
export type AnsweredPair = components['schemas']['AnsweredPair'];
export type Archiving = components['schemas']['Archiving'];
export type ArenaResult = components['schemas']['ArenaResult'];
export type ArenaState = components['schemas']['ArenaState'];
export type Beginning = components['schemas']['Beginning'];
export type BeginningName = components['schemas']['BeginningName'];
export type BestTrajectory = components['schemas']['BestTrajectory'];
export type Camera = components['schemas']['Camera'];
export type Capsule = components['schemas']['Capsule'];
export type CarelessSign = components['schemas']['CarelessSign'];
export type ChangedSettings = components['schemas']['ChangedSettings'];
export type ChosenItems = components['schemas']['ChosenItems'];
export type ClipStatus = components['schemas']['ClipStatus'];
export type ClipsDisplay = components['schemas']['ClipsDisplay'];
export type Copying = components['schemas']['Copying'];
export type CurvePoint = components['schemas']['CurvePoint'];
export type Done = components['schemas']['Done'];
export type Ends = components['schemas']['Ends'];
export type Entry = components['schemas']['Entry'];
export type ErrorBody = components['schemas']['ErrorBody'];
export type Estimate = components['schemas']['Estimate'];
export type Feature = components['schemas']['Feature'];
export type FeatureEffect = components['schemas']['FeatureEffect'];
export type FeatureMap = components['schemas']['FeatureMap'];
export type FeatureRange = components['schemas']['FeatureRange'];
export type FeaturesDisplay = components['schemas']['FeaturesDisplay'];
export type FileToUpload = components['schemas']['FileToUpload'];
export type FlatPart = components['schemas']['FlatPart'];
export type FlatScene = components['schemas']['FlatScene'];
export type GivenAnnotation = components['schemas']['GivenAnnotation'];
export type GivenReason = components['schemas']['GivenReason'];
export type History = components['schemas']['History'];
export type HistoryChange = components['schemas']['HistoryChange'];
export type KnownBefore = components['schemas']['KnownBefore'];
export type LearningCurvePoint = components['schemas']['LearningCurvePoint'];
export type LearningSummary = components['schemas']['LearningSummary'];
export type Me = components['schemas']['Me'];
export type Mesh = components['schemas']['Mesh'];
export type NearestTrajectory = components['schemas']['NearestTrajectory'];
export type NewSession = components['schemas']['NewSession'];
export type NewUpload = components['schemas']['NewUpload'];
export type OfferedReason = components['schemas']['OfferedReason'];
export type OfferedReasons = components['schemas']['OfferedReasons'];
export type OpenedSession = components['schemas']['OpenedSession'];
export type OwnScore = components['schemas']['OwnScore'];
export type ParticipantProgress = components['schemas']['ParticipantProgress'];
export type PastAnswer = components['schemas']['PastAnswer'];
export type Phone = components['schemas']['Phone'];
export type Place = components['schemas']['Place'];
export type PolicyStanding = components['schemas']['PolicyStanding'];
export type Polygon = components['schemas']['Polygon'];
export type PoolPage = components['schemas']['PoolPage'];
export type PoolSample = components['schemas']['PoolSample'];
export type PoolTrajectory = components['schemas']['PoolTrajectory'];
export type Prefetch = components['schemas']['Prefetch'];
export type Problem = components['schemas']['Problem'];
export type QuestionMap = components['schemas']['QuestionMap'];
export type RankedTrajectory = components['schemas']['RankedTrajectory'];
export type Rating = components['schemas']['Rating'];
export type Renaming = components['schemas']['Renaming'];
export type Replay = components['schemas']['Replay'];
export type RewardSummary = components['schemas']['RewardSummary'];
export type SceneDisplay = components['schemas']['SceneDisplay'];
export type SessionList = components['schemas']['SessionList'];
export type SessionName = components['schemas']['SessionName'];
export type SessionState = components['schemas']['SessionState'];
export type ShownQuestion = components['schemas']['ShownQuestion'];
export type Signal = components['schemas']['Signal'];
export type SolidPart = components['schemas']['SolidPart'];
export type SolidScene = components['schemas']['SolidScene'];
export type StageSubmission = components['schemas']['StageSubmission'];
export type Statement = components['schemas']['Statement'];
export type StopAdvice = components['schemas']['StopAdvice'];
export type StudyProgress = components['schemas']['StudyProgress'];
export type SurprisingAnswer = components['schemas']['SurprisingAnswer'];
export type TagCount = components['schemas']['TagCount'];
export type TargetScores = components['schemas']['TargetScores'];
export type Teacher = components['schemas']['Teacher'];
export type TeachingPlace = components['schemas']['TeachingPlace'];
export type TeachingSession = components['schemas']['TeachingSession'];
export type TeachingSettings = components['schemas']['TeachingSettings'];
export type TrajectoryDetails = components['schemas']['TrajectoryDetails'];
export type TrajectorySignals = components['schemas']['TrajectorySignals'];
export type Undo = components['schemas']['Undo'];
export type Upload = components['schemas']['Upload'];
export type UploadName = components['schemas']['UploadName'];
export type Uploaded = components['schemas']['Uploaded'];
export type WhatIf = components['schemas']['WhatIf'];
export type Window = components['schemas']['Window'];
export type WorldChoice = components['schemas']['WorldChoice'];
export type WrittenRemarks = components['schemas']['WrittenRemarks'];
export type $defs = Record<string, never>;
export interface operations {
    annotations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Annotations"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    annotate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GivenAnnotation"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    cancel_beginning: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BeginningName"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    beginning_state: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                beginning: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Beginning"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    clip: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                index: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    camera_clip: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                index: number;
                camera: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    camera_clip_status: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                index: number;
                camera: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClipStatus"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    clip_status: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                index: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClipStatus"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    display: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SceneDisplay"] | components["schemas"]["ClipsDisplay"] | components["schemas"]["FeaturesDisplay"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    enter: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Entry"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    export_csv: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": unknown;
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    export_parquet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.parquet": unknown;
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    export_everything: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": unknown;
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    export_report: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    export_reward: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    export_trajectories: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": unknown;
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    history: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["History"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    change_history: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HistoryChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    learning_summary: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearningSummary"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    leave: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    phone: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Phone"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    pool: {
        parameters: {
            query?: {
                sort?: "index" | "id" | "reward" | "std" | "shown" | "feature";
                descending?: boolean;
                feature?: number;
                text?: string;
                tag?: string;
                shown?: "any" | "shown" | "never";
                between?: string[];
                offset?: number;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PoolPage"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    choose_question: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChosenItems"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    withdraw_question: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Undo"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    thumbnail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                index: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    progress: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StudyProgress"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    reward: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RewardSummary"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    answer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnswerOrSkip"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    prefetch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Prefetch"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    give_reason: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GivenReason"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    rest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    submit_stage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StageSubmission"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    undo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Undo"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    sessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    begin_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSession"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Beginning"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    archive_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Archiving"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedSession"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    copy_of_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Copying"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedSession"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    open_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionName"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedSession"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    rename_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Renaming"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedSession"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    change_session_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangedSettings"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedSession"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    stopping: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopAdvice"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    teaching: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeachingPlace"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    trajectory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                index: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrajectoryDetails"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    signals: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                index: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrajectorySignals"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    begin_upload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewUpload"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Upload"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    cancel_upload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UploadName"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    add_chunk: {
        parameters: {
            query: {
                upload: string;
                number: number;
                offset: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Uploaded"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    reward_at: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Place"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhatIf"];
                };
            };
            /** @description Refused */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Not available now */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
}
