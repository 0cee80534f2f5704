// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '85d914d4181eff3a8919af490e7ef65f33d1fa37392b25b079cc8f665440c136'
