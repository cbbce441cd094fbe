"""The machine a model runs on: which device, which precision, how many at once."""
