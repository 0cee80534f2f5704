// A client of S3: bounded, verified, and over plain text only where it stays on its machine or that was allowed by name.
import { Agent } from 'node:https'
import type * as Sdk from '@aws-sdk/client-s3'
import { refusePlainUrl } from '@baton/runtime'
import type { Tls } from '@baton/runtime'

interface S3Place {
  readonly region: string
  /** Another service than AWS; its buckets stand in the path. */
  readonly endpoint?: string | undefined
  /** The name of its setting. */
  readonly setting: string
  readonly attemptsMax: number
  readonly requestMs: number
  readonly connectMs: number
  /** An endpoint of one's own may be vouched for by an authority of one's own. */
  readonly tls: Tls
}

/** Throws BATON_PLAINTEXT_REFUSED. */
export function createS3Client(sdk: typeof Sdk, place: S3Place): Sdk.S3Client {
  const { region, endpoint, setting, tls } = place
  if (endpoint !== undefined) refusePlainUrl(tls, { url: endpoint, setting })
  return new sdk.S3Client({
    region,
    maxAttempts: place.attemptsMax,
    requestHandler: {
      requestTimeout: place.requestMs,
      connectionTimeout: place.connectMs,
      httpsAgent: agentOf(tls),
    },
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
  })
}

const SOCKETS_MAX = 50

/** Each of its connections trusts what is trusted when it is made. No certificate is shown: S3 knows its callers by signatures. */
function agentOf(tls: Tls): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX })
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) =>
    connect(Object.assign({}, options, { secureContext: tls.toOthers() }), callback)
  return agent
}
