// Asks the auditor what its log has since, on a connection of its own: whoever reads a trace does not wait for it.
import type { FollowedLog, FollowRequest } from '@baton/engine'
import { createHttpClient } from '@baton/http/client'
import { NO_TLS } from '@baton/runtime'
import type { Tls } from '@baton/runtime'

export interface LogFollowing {
  /** Throws transient BATON_AUDIT_UNAVAILABLE, and what the auditor refuses. */
  follow(request: FollowRequest): Promise<FollowedLog>
  close(): void
}

interface FollowingOptions {
  /** Base URL of the auditor. */
  readonly url: string
  readonly readToken: string
  readonly tls?: Tls | undefined
}

const TIMEOUT_MS = 15_000
/** So many records of the largest size that there is. */
const ANSWER_BYTES_MAX = 40_000_000

export function createLogFollowing({
  url,
  readToken,
  tls = NO_TLS,
}: FollowingOptions): LogFollowing {
  const http = createHttpClient({
    url,
    name: 'the auditor',
    token: readToken,
    tls: { tls, setting: 'BATON_AUDIT_URL' },
    timeoutMs: TIMEOUT_MS,
    connectionsMax: 1,
    answerBytesMax: ANSWER_BYTES_MAX,
    unavailable: { code: 'BATON_AUDIT_UNAVAILABLE' },
  })
  return {
    follow: (body) => http.json<FollowedLog>('/v1/follow', { body, repeatable: true }),
    close: () => http.close(),
  }
}
