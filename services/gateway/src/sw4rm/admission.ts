// Who may send a message at all: a call is refused by its metadata, before a byte of its message is read, and what is
// admitted arrives soon. Nobody without a key takes memory here, and nobody with one takes much.
import { ServerInterceptingCall } from '@grpc/grpc-js'
import type { Metadata, ServerInterceptor } from '@grpc/grpc-js'
import { ProblemError } from '@baton/http/server'
import type { SocketLimit } from '@baton/http/sockets'
import type { Logger } from '@baton/runtime'
import type { Access } from '../api-keys.ts'
import type { Authenticate } from '../authenticate.ts'
import { keyWithScope } from '../request-context.ts'
import { rateLimited } from '../server.ts'
import { openCallRecord } from './call-record.ts'
import type { Methods } from './calls.ts'
import type { MethodName } from './wire.ts'

export interface CallBounds {
  /** Whose call it is: as over HTTP. */
  readonly authenticate: Authenticate
  /** Calls per minute and API key. */
  readonly rateMax: number
}

interface AdmissionParts extends CallBounds {
  readonly methods: Methods
  readonly sockets: SocketLimit
  readonly logger: Logger
}

export interface Admission {
  /** Whose call it is that came in with this metadata, and was admitted. */
  keyOf(metadata: Metadata): Access
  readonly interceptor: ServerInterceptor
}

/** Messages of one key that may arrive at the same time: each may take 1.25 MiB. */
const ARRIVING_PER_KEY_MAX = 128
/** As long as a request over HTTP may take. */
const ARRIVAL_MS = 15_000

export function createAdmission(parts: AdmissionParts): Admission {
  const { authenticate, rateMax, methods, sockets, logger } = parts
  const count = createCounter(rateMax)
  const arriving = createArrivals()
  const admitted = new WeakMap<Metadata, Access>()

  /** Throws where they may not call this. */
  async function identify(name: MethodName, metadata: Metadata): Promise<Access> {
    const authorization = metadata.get('authorization')[0]?.toString()
    return keyWithScope(await authenticate(authorization), methods[name].scope)
  }

  const interceptor: ServerInterceptor = ({ path }, call) => {
    const name = path.slice(path.lastIndexOf('/') + 1) as MethodName
    let arrived = () => {}
    let isOver = false
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          // What comes after the metadata waits until it is passed on.
          async onReceiveMetadata(metadata, pass) {
            const refuse = (error: unknown, apiKeyId?: string) => {
              const address = call.getConnectionInfo().remoteAddress
              const record = openCallRecord(name, { metadata, address, logger })
              call.sendMetadata(record.headers)
              call.sendStatus(record.refused(error, apiKeyId))
            }
            let key: Access | undefined
            try {
              key = await identify(name, metadata)
              if (isOver) return
              sockets.authenticated(call.getConnectionInfo())
              count(key.id)
              arrived = arriving.begin(key.id, () => {
                refuse(TOO_SLOW, key?.id)
                // What has come of it is let go with its connection, which it had to itself or shares with no other caller.
                setImmediate(() => sockets.close(call.getConnectionInfo()))
              })
            } catch (error) {
              if (!isOver) refuse(error, key?.id)
              return
            }
            admitted.set(metadata, key)
            pass(metadata)
          },
          onReceiveHalfClose(pass) {
            arrived()
            pass()
          },
          onCancel() {
            isOver = true
            arrived()
          },
        }),
    })
  }
  return {
    keyOf(metadata) {
      const key = admitted.get(metadata)
      if (key === undefined) throw new TypeError('only what was admitted is answered')
      return key
    },
    interceptor,
  }
}

/** Which messages are under way: `begin` answers what ends one, and calls `late` where nothing has in time. Throws 503 for too many. */
function createArrivals() {
  const counts = new Map<string, number>()
  return {
    begin(keyId: string, late: () => void): () => void {
      const before = counts.get(keyId) ?? 0
      if (before >= ARRIVING_PER_KEY_MAX) throw ARRIVING_TOO_MANY
      counts.set(keyId, before + 1)
      let isOver = false
      const end = () => {
        if (isOver) return
        isOver = true
        clearTimeout(timer)
        const left = (counts.get(keyId) ?? 1) - 1
        if (left === 0) counts.delete(keyId)
        else counts.set(keyId, left)
      }
      const timer = setTimeout(() => {
        end()
        late()
      }, ARRIVAL_MS)
      return end
    },
  }
}

const ARRIVING_TOO_MANY = new ProblemError({
  status: 503,
  code: 'BATON_OVERLOADED',
  detail: 'as many messages of this key are arriving as may at once',
  fix: 'Try again after the time in retry-after, and send whole messages.',
  headers: { 'retry-after': '1' },
})

const TOO_SLOW = new ProblemError({
  status: 408,
  code: 'BATON_REQUEST_TOO_SLOW',
  detail: 'the message did not arrive in time',
  fix: `Send the whole message within ${ARRIVAL_MS / 1000} s.`,
})

const COUNTED_MAX = 10_000

/** Throws 429 for the calls of a key beyond so many in one minute. Who called in an earlier minute is forgotten when there are many. */
function createCounter(rateMax: number): (keyId: string) => void {
  const counts = new Map<string, { readonly minute: number; calls: number }>()
  return (keyId) => {
    const minute = Math.floor(performance.now() / 60_000)
    const known = counts.get(keyId)
    const counted = known?.minute === minute ? known : { minute, calls: 0 }
    counted.calls += 1
    counts.set(keyId, counted)
    if (counts.size > COUNTED_MAX)
      for (const [id, { minute: last }] of counts) if (last !== minute) counts.delete(id)
    if (counted.calls > rateMax) throw rateLimited(60_000 - (performance.now() % 60_000))
  }
}
