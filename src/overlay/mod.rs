//! Prediction → shapes in frame pixels; the window paints them, reports rasterise them.
