// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '0b53074ad426e98f4aff2380c6a1436bd0b5b763046e797dd959d97fdbfc0dae'
