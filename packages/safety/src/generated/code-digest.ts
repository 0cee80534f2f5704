// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '05662ebfa7b97efa77f8c0fb010031c6c65cfbffa9f51bf9a8eb2f92cccfdc2e'
