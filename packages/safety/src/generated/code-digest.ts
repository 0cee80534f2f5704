// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = 'd36cdb6fa651d0abd7b1731204cbc41df2dfc78f40433d24ab2ec3f4e56476c2'
