// Where this command line stands. Nothing is loaded with it.
import { fileURLToPath } from 'node:url'

/** The checkout this command line belongs to. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
