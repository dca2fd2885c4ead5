"""The batch functions, alone and inside other engines."""
