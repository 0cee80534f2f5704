// The handoff service of SW4RM on a port of its own: bounded in connections, streams, sizes and silence, encrypted where it has a
// certificate.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { createSecureContext } from 'node:tls'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { handleUnaryCall } from '@grpc/grpc-js'
import type { RefusalRecorder } from '@baton/engine'
import type { ConnectionBounds } from '@baton/http/server'
import { createSocketLimit } from '@baton/http/sockets'
import { permanent } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { createAdmission } from './admission.ts'
import type { CallBounds } from './admission.ts'
import { asCall } from './calls.ts'
import type { Method, Methods } from './calls.ts'
import { METHODS } from './wire.ts'
import type { MethodName } from './wire.ts'

export interface Sw4rmServerOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  readonly connections: ConnectionBounds
  readonly tls?: TlsFiles | undefined
  readonly bounds: CallBounds
  /** Throws while too much is under way. */
  readonly bounded: <Result>(work: () => Promise<Result>) => Promise<Result>
  readonly methods: Methods
  /** Where refused messages are recorded. */
  readonly refusals: RefusalRecorder
  readonly logger: Logger
}

/** PEM files: the certificate with those that vouch for it, and its private key. */
export interface TlsFiles {
  readonly certificate: string
  readonly key: string
}

export interface Sw4rmServer extends Service {
  /** `host:port` once it has started. */
  readonly address: string
}

/** A context of 1 MiB and everything beside it. */
const RECEIVED_BYTES_MAX = 1_310_720
const SENT_BYTES_MAX = 5_242_880
/** Longer than a call takes; then what is under way is cut off. */
const STOP_MS = 5_000

const CHANNEL = {
  'grpc.max_receive_message_length': RECEIVED_BYTES_MAX,
  'grpc.max_send_message_length': SENT_BYTES_MAX,
  'grpc.max_concurrent_streams': 100,
  'grpc.max_metadata_size': 16_384,
  // A peer that is gone is noticed, and a connection that nobody uses is closed.
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.max_connection_idle_ms': 300_000,
  'grpc.max_connection_age_ms': 3_600_000,
  'grpc.max_connection_age_grace_ms': 30_000,
}

export function createSw4rmServer(options: Sw4rmServerOptions): Sw4rmServer {
  const { host, methods, bounds, bounded, refusals, logger } = options
  const sockets = createSocketLimit(options.connections)
  const admission = createAdmission({ ...bounds, methods, sockets, logger })
  const grpc = new Server({ ...CHANNEL, interceptors: [admission.interceptor] })
  for (const name of Object.keys(METHODS) as MethodName[]) {
    const definition = METHODS[name]
    const parts = { admission, bounded, refusals, logger }
    const call = asCall(name, methods[name] as Method<MethodName>, parts)
    grpc.addService({ [name]: definition }, { [name]: call as handleUnaryCall<unknown, unknown> })
  }
  const injector = grpc.createConnectionInjector(credentialsOf(options.tls))
  // Sockets come through a server of Node's own, which counts them.
  const listener = createServer((socket) => {
    if (sockets.admit(socket)) injector.injectConnection(socket)
    else logger.warn({ event: 'grpc.connection_refused' })
  })
  let address = ''
  return {
    name: 'sw4rm',
    get address() {
      return address
    },
    async start() {
      address = `${host}:${await listenOn(listener, options)}`
      logger.info({ event: 'grpc.listening', address })
    },
    async stop() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()))
      injector.drain(STOP_MS)
      await closed
      grpc.forceShutdown()
    },
  }
}

function credentialsOf(tls: TlsFiles | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure()
  const pair = {
    cert_chain: readPem('BATON_SW4RM_TLS_CERT', tls.certificate),
    private_key: readPem('BATON_SW4RM_TLS_KEY', tls.key),
  }
  try {
    createSecureContext({ cert: pair.cert_chain, key: pair.private_key })
  } catch (cause) {
    throw tlsInvalid('they are no PEM, or do not belong together', cause)
  }
  return ServerCredentials.createSsl(null, [pair])
}

function readPem(setting: string, path: string): Buffer {
  if (path === '') throw tlsInvalid(`${setting} is not set`)
  try {
    return readFileSync(path)
  } catch (cause) {
    throw tlsInvalid(`${setting} cannot be read at ${path}`, cause)
  }
}

const tlsInvalid = (why: string, cause?: unknown) =>
  permanent(
    'BATON_SW4RM_TLS_INVALID',
    `the certificate and the key of the SW4RM port cannot be used: ${why}`,
    {
      cause,
      fix: 'Name readable PEM files that belong together in BATON_SW4RM_TLS_CERT and BATON_SW4RM_TLS_KEY, or neither.',
    },
  )

function listenOn(
  listener: NetServer,
  { host, port }: Pick<Sw4rmServerOptions, 'host' | 'port'>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    listener.once('error', (cause) =>
      reject(
        permanent('BATON_GATEWAY_LISTEN_FAILED', `cannot listen on ${host}:${port}`, {
          cause,
          fix: 'Stop the process that has the port, or set BATON_SW4RM_PORT.',
        }),
      ),
    )
    listener.listen(port, host, () => resolve((listener.address() as AddressInfo).port))
  })
}
