/** How a person wants to see clips: the browser remembers it, for the next questions and sessions. */

import { signal, type Signal } from "@preact/signals";

import { openStorage } from "../storage";

const LOOP = "prefero.loop";
const IN_TURN = "prefero.in-turn";
const CAMERA = "prefero.camera";
const [YES, NO] = ["yes", "no"] as const;

export class ViewOptions {
  readonly loop: Signal<boolean>; // play again after the end
  readonly inTurn: Signal<boolean>; // one clip after the other, not all together
  readonly camera: Signal<string>; // from where a scene or an episode is seen; "" as usual

  constructor(private readonly storage: Storage) {
    this.loop = signal(storage.getItem(LOOP) !== NO);
    this.inTurn = signal(storage.getItem(IN_TURN) === YES);
    this.camera = signal(storage.getItem(CAMERA) ?? "");
  }

  toggleLoop(): void {
    this.loop.value = !this.loop.value;
    this.storage.setItem(LOOP, this.loop.value ? YES : NO);
  }

  toggleInTurn(): void {
    this.inTurn.value = !this.inTurn.value;
    this.storage.setItem(IN_TURN, this.inTurn.value ? YES : NO);
  }

  chooseCamera(name: string): void {
    this.camera.value = name;
    this.storage.setItem(CAMERA, name);
  }
}

let opened: ViewOptions | null = null;

/** Those of this browser, the same for all views. */
export function viewOptions(): ViewOptions {
  return (opened ??= new ViewOptions(openStorage()));
}
