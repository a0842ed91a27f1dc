/** Whether a graphics card draws three-dimensional scenes in this browser, or its processor would have to. */

const PROCESSORS = /swiftshader|llvmpipe|softpipe|software|basic render/i; // programs that draw without a graphics card

let known: boolean | null = null;

/** The same throughout: to find it out takes a context, of which browsers allow only a few. */
export function hasGraphicsCard(): boolean {
  return (known ??= looksForCard());
}

/** Some browsers say themselves that drawing would be slow, others only name the program that draws. */
function looksForCard(): boolean {
  const context = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (!context) return false;
  const debug = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(context.getParameter(debug?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER));
  context.getExtension("WEBGL_lose_context")?.loseContext(); // browsers allow only a few contexts
  return !PROCESSORS.test(name);
}
