// Who may hold a connection to an HTTP server. Connections are bounded, in all and per address, and those that wait for their
// client give way to new ones: whoever opens many and keeps them open locks nobody out.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface ConnectionBounds {
  /** Open connections in all. */
  readonly max: number
  /** Open connections of one address; of one /64 where it is IPv6. */
  readonly perAddressMax: number
}

interface ConnectionLimits extends ConnectionBounds {
  /** How long a connection may wait on which nobody has proven who they are. */
  readonly unauthenticatedIdleMs?: number
}

const UNAUTHENTICATED_IDLE_MS = 5_000

export interface ConnectionLimit {
  /** Tells that a caller has proven who they are: from now on the server's ordinary idle time holds for their connection. */
  authenticated(response: ServerResponse): void
}

interface Exchange {
  readonly response: ServerResponse
  /** Whether the request has arrived with its whole body. */
  isWhole: boolean
}

interface Connection {
  /** The one that speaks TLS once there is such a one. */
  socket: Socket
  isAuthenticated: boolean
  /** What was asked and not yet answered to the last byte, in order: pipelining makes it more than one. */
  readonly exchanges: Set<Exchange>
}

/**
 * Bounds the connections of a server that does not listen yet; how long the headers of a request may take
 * is the server's own `headersTimeout`. Where there is no room for a new one, the
 * connection that has waited longest for its client is closed, those that nobody has authenticated first;
 * the new one is refused only where every other has a request under way. One with a request under way is never closed.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): ConnectionLimit {
  const { unauthenticatedIdleMs = UNAUTHENTICATED_IDLE_MS } = limits
  const hint = `timeout=${Math.floor(unauthenticatedIdleMs / 1_000)}`
  const table = createConnectionTable<Connection>(limits)
  const connections = new WeakMap<Socket, Connection>()
  const shaking = new Map<string, Connection>()

  const settle = (connection: Connection) => {
    const { socket, isAuthenticated } = connection
    const isBusy = hasRequestUnderWay(connection)
    table.change(connection, { isAuthenticated, isBusy })
    if (isBusy) socket.setTimeout(server.timeout)
    else if (!isAuthenticated) socket.setTimeout(unauthenticatedIdleMs)
  }

  server.on('connection', (socket) => {
    const name = nameOf(socket)
    const connection = { socket, isAuthenticated: false, exchanges: new Set<Exchange>() }
    const { isAdmitted, toClose } = table.open(connection, networkOf(socket.remoteAddress ?? ''))
    toClose?.socket.destroy()
    if (!isAdmitted) return void socket.destroy()
    connections.set(socket, connection)
    shaking.set(name, connection)
    socket.once('close', () => {
      table.close(connection)
      if (shaking.get(name) === connection) shaking.delete(name)
    })
  })

  // Before the server's own listener. Until its handshake ends a connection counts like any other, and gives way like one that is idle.
  server.prependListener('secureConnection', (socket: Socket) => {
    const connection = shaking.get(nameOf(socket))
    if (connection === undefined) return
    connection.socket = socket
    connections.set(socket, connection)
  })

  // Before the server's own listener, which may answer at once.
  server.prependListener('request', (request, response) => {
    const connection = connections.get(request.socket)
    if (connection === undefined) return
    const exchange = { response, isWhole: !hasBody(request) }
    connection.exchanges.add(exchange)
    response.once('close', () => {
      connection.exchanges.delete(exchange)
      settle(connection)
    })
    if (!connection.isAuthenticated) {
      response.setHeader('keep-alive', hint)
      response.once('prefinish', () => settle(connection))
      request.once('end', () => {
        exchange.isWhole = true
        settle(connection)
      })
    }
    settle(connection)
  })

  return {
    authenticated(response) {
      const connection = connections.get(response.req.socket)
      if (connection === undefined || connection.isAuthenticated) return
      connection.isAuthenticated = true
      response.removeHeader('keep-alive')
      settle(connection)
    },
  }
}

// For whom nobody knows, only the server's own work counts: not a body that is still to come, not an answer that is not read.
function hasRequestUnderWay({ isAuthenticated, exchanges }: Connection): boolean {
  const [first] = exchanges
  if (first === undefined) return false
  return isAuthenticated || (first.isWhole && !first.response.writableEnded)
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** The far end of a socket, as whatever comes by it tells too. */
export interface FarEnd {
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
}

/** No two open sockets of one server have the same. */
export const nameOf = ({ remoteAddress, remotePort }: FarEnd): string =>
  `${remoteAddress} ${remotePort}`

/** The address of IPv4, also where it is mapped into IPv6; of other IPv6 its /64, which is what one site has at least. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  const [before = '', after] = address.split('::')
  const groups = before === '' ? [] : before.split(':')
  const behind = after === undefined || after === '' ? [] : after.split(':')
  const left = after === undefined ? 0 : 8 - groups.length - behind.length
  return [...groups, ...Array<string>(left).fill('0'), ...behind].slice(0, 4).join(':')
}

interface ConnectionState {
  readonly isAuthenticated: boolean
  readonly isBusy: boolean
}

interface ConnectionTable<Connection> {
  /** Takes in an idle connection, and names the one that is to be closed for it; it is forgotten here already. */
  open(
    connection: Connection,
    address: string,
  ): { readonly isAdmitted: boolean; readonly toClose?: Connection }
  /** From now on it has this state; an idle one waits from now. */
  change(connection: Connection, state: ConnectionState): void
  close(connection: Connection): void
}

/** Connections of one address, or all: how many there are, and those that are idle, the longest first. */
interface Place<Connection> {
  size: number
  readonly unauthenticated: Set<Connection>
  readonly authenticated: Set<Connection>
}

/** Which connections there are and which one gives way. Each operation takes the same time, however many there are. */
export function createConnectionTable<Connection>({
  max,
  perAddressMax,
}: ConnectionBounds): ConnectionTable<Connection> {
  const everywhere = createPlace<Connection>()
  const places = new Map<string, Place<Connection>>()
  const addresses = new Map<Connection, string>()

  const placesOf = (address: string) => [everywhere, places.get(address) as Place<Connection>]

  const close = (connection: Connection) => {
    const address = addresses.get(connection)
    if (address === undefined) return
    addresses.delete(connection)
    for (const place of placesOf(address)) {
      place.size -= 1
      forget(place, connection)
    }
    if (places.get(address)?.size === 0) places.delete(address)
  }

  const makeRoom = (address: string) => {
    const own = places.get(address)
    const crowded = own !== undefined && own.size >= perAddressMax ? own : everywhere
    if (crowded === everywhere && everywhere.size < max) return { isAdmitted: true }
    const [toClose] =
      crowded.unauthenticated.size > 0 ? crowded.unauthenticated : crowded.authenticated
    if (toClose === undefined) return { isAdmitted: false }
    close(toClose)
    return { isAdmitted: true, toClose }
  }

  return {
    open(connection, address) {
      const room = makeRoom(address)
      if (!room.isAdmitted) return room
      if (!places.has(address)) places.set(address, createPlace())
      addresses.set(connection, address)
      for (const place of placesOf(address)) {
        place.size += 1
        place.unauthenticated.add(connection)
      }
      return room
    },
    change(connection, { isAuthenticated, isBusy }) {
      const address = addresses.get(connection)
      if (address === undefined) return
      for (const place of placesOf(address)) {
        forget(place, connection)
        if (isBusy) continue
        place[isAuthenticated ? 'authenticated' : 'unauthenticated'].add(connection)
      }
    },
    close,
  }
}

const createPlace = <Connection>(): Place<Connection> => ({
  size: 0,
  unauthenticated: new Set(),
  authenticated: new Set(),
})

function forget<Connection>(place: Place<Connection>, connection: Connection): void {
  place.unauthenticated.delete(connection)
  place.authenticated.delete(connection)
}
