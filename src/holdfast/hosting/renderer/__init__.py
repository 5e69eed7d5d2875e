"""Renders Markdown and source code to HTML, within a budget of CPU time and memory."""
