// The handoff service of SW4RM on a port of its own: bounded in connections, streams, sizes and silence.
import { createServer } from 'node:net'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { handleUnaryCall } from '@grpc/grpc-js'
import { permanent } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { createCalls } from './calls.ts'
import type { CallBounds, Method, Methods } from './calls.ts'
import { METHODS } from './wire.ts'
import type { MethodName } from './wire.ts'

export interface Sw4rmServerOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  readonly connectionsMax: number
  readonly bounds: CallBounds
  readonly methods: Methods
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
  const { host, methods, bounds, logger } = options
  const grpc = new Server(CHANNEL)
  const asCall = createCalls(bounds)
  for (const name of Object.keys(METHODS) as MethodName[]) {
    const definition = METHODS[name]
    const call = asCall(name, methods[name] as Method<MethodName>)
    grpc.addService({ [name]: definition }, { [name]: call as handleUnaryCall<unknown, unknown> })
  }
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure())
  // Sockets come through a server of Node's own, which counts them.
  const listener = createServer((socket) => injector.injectConnection(socket))
  listener.maxConnections = options.connectionsMax
  listener.on('drop', () => logger.warn({ event: 'grpc.connection_refused' }))
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
