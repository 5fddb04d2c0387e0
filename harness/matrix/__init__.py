"""Coverage, the cell rules, and the matrix that they give. Computed, never written by hand."""
