// The handoff service of SW4RM on a port of its own: bounded in connections, streams, sizes and silence, encrypted where the process has
// a certificate.
import type { AddressInfo, Server as NetServer } from 'node:net'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { handleUnaryCall } from '@grpc/grpc-js'
import type { RefusalRecorder } from '@baton/engine'
import { createListenerOver } from '@baton/http/server'
import type { ConnectionBounds, ServerTls } from '@baton/http/server'
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
  readonly tls: ServerTls
  readonly bounds: CallBounds
  /** Throws while too much is under way. */
  readonly bounded: <Result>(work: () => Promise<Result>) => Promise<Result>
  readonly methods: Methods
  /** Where refused messages are recorded. */
  readonly refusals: RefusalRecorder
  readonly logger: Logger
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
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure())
  // Sockets come through a server of Node's own, which counts them and speaks TLS.
  const listener = createListenerOver(options.tls, {
    protocol: 'h2',
    admit(socket) {
      const isAdmitted = sockets.admit(socket)
      if (!isAdmitted) logger.warn({ event: 'grpc.connection_refused' })
      return isAdmitted
    },
    serve: (socket) => injector.injectConnection(socket),
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
