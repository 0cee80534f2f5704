// A client of S3: bounded, verified, and over plain text only where it stays on its machine or that was allowed by name.
import type * as Sdk from '@aws-sdk/client-s3'
import { refusePlainUrl } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { createAwsAgent } from './aws-agent.ts'

interface S3Place {
  readonly region: string
  /** Another service than AWS; its buckets stand in the path. */
  readonly endpoint?: string | undefined
  /** The name of its setting. */
  readonly setting: string
  readonly attemptsMax: number
  /** How long an attempt may take until its answer begins, and after that until it ends: each longer by a second for every MiB. */
  readonly requestMs: number
  readonly connectMs: number
  /** An endpoint of one's own may be vouched for by an authority of one's own. */
  readonly tls: Tls
}

/** An attempt that takes too long fails with a `TimeoutError`, however little by little it is answered. Throws BATON_PLAINTEXT_REFUSED. */
export function createS3Client(sdk: typeof Sdk, place: S3Place): Sdk.S3Client {
  const { region, endpoint, setting, tls, requestMs } = place
  if (endpoint !== undefined) refusePlainUrl(tls, { url: endpoint, setting })
  const client = new sdk.S3Client({
    region,
    maxAttempts: place.attemptsMax,
    requestHandler: { connectionTimeout: place.connectMs, httpsAgent: createAwsAgent(tls) },
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
  })
  boundAttempts(client.config.requestHandler, requestMs)
  return client
}

type RequestHandler = Sdk.S3Client['config']['requestHandler']

// The library's own bounds hold while nothing comes, or until the first byte of an answer.
function boundAttempts(handler: RequestHandler, requestMs: number): void {
  const handle = handler.handle.bind(handler)
  handler.handle = async (request, options: { readonly abortSignal?: unknown } = {}) => {
    const tooLong = new AbortController()
    const { promise: late, reject } = Promise.withResolvers<never>()
    const end = () => {
      reject(Object.assign(new Error('the bucket took too long'), { name: 'TimeoutError' }))
      tooLong.abort()
    }
    let timer = setTimeout(end, requestMs + msFor(request.headers))
    try {
      const given = options.abortSignal as AbortSignal | undefined
      const abortSignal =
        given === undefined ? tooLong.signal : AbortSignal.any([given, tooLong.signal])
      const answer = await Promise.race([handle(request, { ...options, abortSignal }), late])
      clearTimeout(timer)
      timer = setTimeout(end, requestMs + msFor(answer.response.headers)).unref()
      const body = answer.response.body as NodeJS.EventEmitter
      body.once('close', () => clearTimeout(timer))
      return answer
    } catch (error) {
      clearTimeout(timer)
      throw error
    }
  }
}

const BYTES_PER_MS = 1_049
/** What one object is at most, whatever a service says. */
const BYTES_MAX = 1_073_741_824

/** What a body of this length takes where it comes slowly. */
function msFor(headers: Readonly<Record<string, string>>): number {
  const length = Number(headers['content-length'] ?? headers['Content-Length'] ?? 0)
  return Number.isFinite(length) ? Math.min(length, BYTES_MAX) / BYTES_PER_MS : 0
}
