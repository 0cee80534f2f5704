// One request to a witness, which is a stranger's server: it is believed for what it signs, and costs no more than is said here.
import { askOnce } from '@baton/http/ask-once'
import { NO_TLS, refusePlainUrl } from '@baton/runtime'
import type { Tls } from '@baton/runtime'

export interface WitnessAnswer {
  readonly status: number
  readonly body: string
}

interface WitnessRequest {
  /** What is posted; nothing asks with GET. */
  readonly body?: string
  readonly timeoutMs: number
  readonly tls?: Tls | undefined
}

/** A checkpoint with a hundred cosignatures has a tenth of it. */
const BYTES_MAX = 131_072

/** Follows no redirect, and rejects for an answer that is too long or too late, as where there is none. */
export async function askWitness(
  url: URL,
  { tls = NO_TLS, ...request }: WitnessRequest,
): Promise<WitnessAnswer> {
  refusePlainUrl(tls, { url: url.href, setting: 'the policy of witnesses' })
  const answer = await askOnce(url, {
    ...request,
    tls,
    whose: 'others',
    name: `the witness at ${url.origin}`,
    bytesMax: BYTES_MAX,
  })
  if (answer.status >= 300 && answer.status < 400) throw new Error('a redirect is not followed')
  return answer
}
