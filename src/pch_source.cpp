// The targets that precompile a header compile this; others reuse theirs.
