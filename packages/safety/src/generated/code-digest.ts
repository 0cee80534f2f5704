// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '5c5b7ddc11f428a3cdef1bb791128d3d0896059cb155ac367290aeb967a2a245'
