/** Whether a graphics card draws three-dimensional scenes in this browser, or its processor would have to. */

const PROCESSORS = /swiftshader|llvmpipe|softpipe|software|basic render/i; // programs that draw without a graphics card

/** Some browsers say themselves that drawing would be slow, others only name the program that draws. */
export function hasGraphicsCard(): boolean {
  const context = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (!context) return false;
  const known = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(context.getParameter(known?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER));
  context.getExtension("WEBGL_lose_context")?.loseContext(); // browsers allow only a few contexts
  return !PROCESSORS.test(name);
}
