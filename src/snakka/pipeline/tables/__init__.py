"""Tables that topics flow into: one module per format, one protocol for all."""
