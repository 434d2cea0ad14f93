"""Bytes in and bytes out: files to rows, and files written whole or not at all."""
