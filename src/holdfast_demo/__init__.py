"""Demo content for a first start, and generated chat histories: an optional package beside `holdfast`.

The content is created through the public API of a running service (`process`); `sample` generates chat histories.
"""
