//! Tests of the typed seam.
