"""Files as a stranger would make them: one function for each kind that Prefero opens.

Each file names code: the module `evil`, which leaves the file `harm` beside itself when it is imported. It
can be imported, since it lies in a folder on the path, as an installed package would.
"""

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from prefero import Learner, Pool, PreferenceGP, Question
from prefero.datasets.formats.tables import METADATA
from prefero.kernels import Linear
from prefero.pools.displays import display_of
from prefero.studies.exports.export_import import export_study
from prefero.studies.protocol.protocol import Protocol, StudyMethod
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store

EVIL = """from pathlib import Path
Path(__file__).with_name("harm").touch()
import gymnasium
class Env(gymnasium.Env):
    def __init__(self, **_): Path(__file__).with_name("harm").touch()
def policy(_): return 0
"""
NAMES = ["speed", "distance"]
POLICY = {"format": "gymnasium", "path": "CartPole-v1", "options": {"episodes": 6, "policy": "evil:policy"}}
ENVIRONMENT = {"format": "gymnasium", "path": "evil:Env-v0", "options": {"episodes": 6}}


def features(rows: int = 6) -> Any:
    return np.random.default_rng(0).normal(size=(rows, 2))


def minari_dataset(folder: Path) -> Path:
    """A Minari dataset whose environment is a class of the module."""
    import minari
    from gymnasium.envs.registration import EnvSpec
    from minari.data_collector import EpisodeBuffer

    from datasets.slide_environment import Slide

    environment = Slide()
    environment.spec = EnvSpec("Slide-v0", "evil:Env")
    rng = np.random.default_rng(0)
    episodes = [
        EpisodeBuffer(
            id=number,
            observations=rng.normal(size=(9, 1)).astype(np.float32),
            actions=rng.normal(size=(8, 1)).astype(np.float32),
            rewards=np.zeros(8).tolist(),
            terminations=[False] * 8,
            truncations=[False] * 8,
        )
        for number in range(6)
    ]
    minari.create_dataset_from_buffers("evil-v0", episodes, env=environment)
    return folder / "minari" / "evil-v0"


def features_file(folder: Path, dataset: Any) -> Path:
    """A table as `prefero features` writes it, of a dataset that the stranger chose."""
    path, x = folder / "features.parquet", features()
    columns: dict[str, Any] = {"episode": [str(n) for n in range(len(x))], "number": range(len(x))}
    columns |= {
        "first": pa.nulls(len(x), pa.int64()),
        "last": pa.nulls(len(x), pa.int64()),
        "steps": [9] * len(x),
    }
    columns |= dict(zip(NAMES, x.T, strict=True))
    about = {"key": "", "dataset": dataset, "extracted": NAMES, "features": NAMES, "bad": {}, "short": {}}
    pq.write_table(pa.table(columns).replace_schema_metadata({METADATA: json.dumps(about).encode()}), path)
    return path


def pool_with_plan(folder: Path, dataset: Any = POLICY) -> Path:
    """A pool whose clips are not cut yet, with a plan of the stranger's beside them."""
    clips = [folder / "clips" / f"{number:06d}.mp4" for number in range(6)]
    clips[0].parent.mkdir()
    plan = {
        "dataset": dataset,
        "version_parts": [],
        "clips": {c.name: [n, None, None] for n, c in enumerate(clips)},
    }
    (folder / "clips" / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    Pool(features(), NAMES, clips=clips).save(folder / "pool.npz")
    return folder / "pool.npz"


def pool_of_world(folder: Path) -> Path:
    """A pool that says it was simulated in a world of the module."""
    from prefero._support.files import read_archive, write_archive

    Pool.simulate("driver", 6, progress=False).save(folder / "pool.npz")
    header, arrays = read_archive(folder / "pool.npz")
    write_archive(folder / "pool.npz", header | {"source": header["source"] | {"world": "evil:Env"}}, arrays)
    return folder / "pool.npz"


def reward_file(folder: Path) -> Path:
    """A reward whose kernel is a class of the module."""
    learner = Learner(Pool(features(), NAMES), model=PreferenceGP(Linear(), noise=0.1, learn=False))
    learner.tell(Question(0, 1), "left")
    document = json.loads(learner.reward().to_json())
    posterior = json.loads(zlib.decompress(base64.b64decode(document["posterior"])))
    posterior["components"][0]["kernel"]["kind"] = "evil:Env"
    document["posterior"] = base64.b64encode(zlib.compress(json.dumps(posterior).encode())).decode()
    (folder / "reward.json").write_text(json.dumps(document), encoding="utf-8")
    return folder / "reward.json"


def learner_file(folder: Path) -> Path:
    """A learner whose kernel is a class of the module."""
    path = folder / "learner.json"
    Learner(Pool(features(), NAMES), model=PreferenceGP(Linear(), noise=0.1, learn=False)).save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["model"]["kernel"]["kind"] = "evil:Env"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def protocol_file(folder: Path, **settings: str) -> Path:
    """A protocol that names a world or a pool of the stranger's."""
    lines = ['title = "T"', *(f"{name} = {json.dumps(value)}" for name, value in settings.items())]
    lines += ["[[methods]]", 'label = "A"', 'method = "RandomGP 1 0.1"', "questions = 3"]
    (folder / "protocol.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder / "protocol.toml"


def study_folder(folder: Path) -> Path:
    """An exported study whose clips have a plan of the stranger's."""
    pool = Pool.load(pool_with_plan(folder))
    store = Store(open_database(folder / "theirs.db"))
    protocol = Protocol(
        "T", (StudyMethod("A", "RandomGP 1 0.1", 3),), consent="", instructions="", practice=False
    )
    study = store.add_study("theirs", "study", protocol.to_json(), pool, display_of(pool), "their-secret")
    store.invite(study, "P1", "their-code", seed=0)
    export_study(store, study, folder / "exported")
    store.engine.dispose()
    return folder / "exported"


def pickled_archive(folder: Path) -> Path:
    """Arrays with a pickle that imports the module."""
    np.savez(folder / "states.npz", states=np.array([_Pickled()], dtype=object))
    return folder / "states.npz"


class _Pickled:
    def __reduce__(self) -> Any:
        return __import__, ("evil",)
