// The precompiled header is built with this target; other targets reuse it.
