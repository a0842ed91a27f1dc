"""Drawing trajectories: scenes, a software rasterizer, canvases and video."""
