"""Drawing trajectories: scenes, canvases, a software rasterizer and video."""
