// Types of setup-step.mjs, which stays plain JavaScript because boot.mjs runs it on any Node from 18.

export const ROOT: string
/** The machine as npm packages of binaries name it, for example linux-x64. */
export const HOST: string
/** What set-up fetches and makes, in the checkout. */
export const STATE: string
