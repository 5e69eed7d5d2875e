"""Datasets: many backups as Parquet tables of one documented schema, in a folder or an S3 bucket.

Needs the extra `dataset`; building on a Ray cluster needs the extra `ray`.
"""
