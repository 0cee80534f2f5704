// Where tests keep servers and caches: beside the checkout's other state, apart from the data of `npm run up`.
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'

/** The checkout's root folder. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
export const TEST_STATE = join(ROOT, '.baton', 'test')
/** Shared with `npm run up`, so that Redis is unpacked once per checkout. */
export const REDIS_CACHE = join(ROOT, '.baton', 'redis-server')
/** Where Node keeps what it compiled: a service starts in half the processor time. Keyed by content. */
export const COMPILE_CACHE = join(TEST_STATE, 'compile-cache')
