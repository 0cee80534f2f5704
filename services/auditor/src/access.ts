// Who appends: bearer tokens say so.
import { bearerOf, matcherOf, requireToken } from '@baton/http/server'

/** Who appends: a service of the pipeline, or the archiver, which alone tells what left a store. */
export type Appender = 'service' | 'archiver'

/** Says whose token it is; throws as `requireToken` does where it is neither's. */
export function identifyAppender(tokens: {
  readonly append: string
  /** Nobody is the archiver without it. */
  readonly archive: string | undefined
}): (authorization: string | undefined) => Appender {
  const requireAppend = requireToken(tokens.append, 'append')
  const isArchive = tokens.archive === undefined ? () => false : matcherOf(tokens.archive)
  return (authorization) => {
    if (isArchive(bearerOf(authorization) ?? '')) return 'archiver'
    requireAppend(authorization)
    return 'service'
  }
}
