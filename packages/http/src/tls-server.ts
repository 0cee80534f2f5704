// Servers that speak TLS where their process has a certificate, and plain HTTP where it has none. New connections get what the process
// has read last; a handshake that fails, or never ends, is closed and told in the log, without letting its number fill that.
import { createServer as createPlainServer } from 'node:http'
import type { RequestListener, Server, ServerOptions } from 'node:http'
import { createServer as createSecureServer, Server as SecureServer } from 'node:https'
import { createServer as createPlainListener } from 'node:net'
import type { Server as Listener, Socket } from 'node:net'
import { createServer as createSecureListener } from 'node:tls'
import type { SecureContextOptions, TLSSocket } from 'node:tls'
import { codeOf, NO_TLS, permanent, TLS_VERSION_MIN } from '@baton/runtime'
import type { Logger, Tls, TlsClients } from '@baton/runtime'
import { nameOf } from './connections.ts'
import { ProblemError, writeProblem } from './problem.ts'

/** How a server speaks TLS, and with whom. */
export interface ServerTls {
  readonly tls: Tls
  /** `certified` answers who shows no certificate of BATON_TLS_CA_FILE with 403 BATON_TLS_REFUSED; `shown` asks for one and serves everybody. */
  readonly clients: TlsClients | 'shown'
  readonly logger: Logger
}

/** Longer handshakes are cut off. */
const HANDSHAKE_MS = 5_000
/** How long who is refused may take to ask, so that they can be told. */
const REFUSAL_MS = 5_000
const LOGGED_EVERY_MS = 1_000

/** Does not listen yet. Throws the permanent BATON_TLS_INVALID where clients are to be certified and nobody vouches for them. */
export function createServerOver(
  own: ServerTls | undefined,
  options: ServerOptions,
  listener?: RequestListener,
): Server {
  const { tls, clients } = own ?? { tls: NO_TLS, clients: 'any' as const }
  if (own === undefined || tls.material.certificate === undefined)
    return createPlainServer(options, listener)
  const asksForCertificates = clients !== 'any' && vouched(own)
  const server = createSecureServer(
    {
      ...options,
      ...contextOf(own),
      requestCert: asksForCertificates,
      // Whoever has none is told in words, instead of a broken connection.
      rejectUnauthorized: false,
      handshakeTimeout: HANDSHAKE_MS,
    },
    listener,
  )
  const stopFollowing = tls.onChange(() => server.setSecureContext(contextOf(own)))
  server.once('close', stopFollowing)
  tellFailedHandshakes(server, own.logger)
  if (clients === 'certified') refuseUncertified(server, own.logger)
  return server
}

interface SocketsOver {
  /** What is spoken over TLS, as the two sides agree on it. */
  readonly protocol: string
  /** Hears of every connection before its handshake; answers whether it may go on, and closes it where not. */
  readonly admit: (socket: Socket) => boolean
  readonly serve: (socket: Socket) => void
}

/** The same for what is no HTTP/1: whoever needs a certificate and has none is turned away by the handshake itself. */
export function createListenerOver(
  own: ServerTls,
  { protocol, admit, serve }: SocketsOver,
): Listener {
  const { tls, clients, logger } = own
  if (tls.material.certificate === undefined)
    return createPlainListener((socket) => {
      if (admit(socket)) serve(socket)
    })
  const listener = createSecureListener(
    {
      ...contextOf(own),
      ALPNProtocols: [protocol],
      requestCert: clients !== 'any' && vouched(own),
      rejectUnauthorized: clients === 'certified',
      handshakeTimeout: HANDSHAKE_MS,
    },
    serve,
  )
  listener.on('connection', admit)
  listener.once(
    'close',
    tls.onChange(() => listener.setSecureContext(contextOf(own))),
  )
  tellFailedHandshakes(listener, logger)
  return listener
}

function vouched({ tls, clients }: ServerTls): boolean {
  if (tls.material.authorities !== undefined) return true
  if (clients === 'shown') return false
  throw permanent('BATON_TLS_INVALID', 'clients need certificates, and nobody vouches for them', {
    fix: 'Set BATON_TLS_CA_FILE, or BATON_TLS_CLIENTS=any where tokens alone say who calls.',
  })
}

/** How URLs of this server begin. */
export const schemeOf = (server: Server): 'http' | 'https' =>
  server instanceof SecureServer ? 'https' : 'http'

/** With what handshakes are answered from now on. */
function contextOf({ tls, clients }: Pick<ServerTls, 'tls' | 'clients'>): SecureContextOptions {
  const { certificate, key, authorities } = tls.material
  return {
    minVersion: TLS_VERSION_MIN,
    cert: certificate,
    key,
    ...(clients === 'any' || authorities === undefined ? {} : { ca: [...authorities] }),
  }
}

/** Whether the other side has proven itself by a certificate of an authority that is believed. */
export const isCertified = (socket: Socket): boolean => {
  const { authorized, getPeerX509Certificate } = socket as Partial<TLSSocket>
  // A session that is taken up again could count as authorized without ever having shown one.
  return authorized === true && getPeerX509Certificate?.call(socket) !== undefined
}

export const certificateNeeded = (socket: Socket): ProblemError => {
  const { authorizationError } = socket as Partial<TLSSocket>
  const shown = (socket as Partial<TLSSocket>).getPeerX509Certificate?.() !== undefined
  const why = shown
    ? `the certificate that the caller showed is not accepted (${String(authorizationError)})`
    : 'the caller showed no certificate'
  return new ProblemError({
    status: 403,
    code: 'BATON_TLS_REFUSED',
    detail: `${why}, and this port is for those with one`,
    fix: 'Set BATON_TLS_CERT_FILE and BATON_TLS_KEY_FILE of the caller to a certificate that counts today, of an authority in BATON_TLS_CA_FILE here.',
  })
}

/** Before HTTP reads anything of them. */
function refuseUncertified(server: Server, logger: Logger): void {
  const [serve] = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[]
  server.removeAllListeners('secureConnection')
  const log = createRareLog(logger)
  server.on('secureConnection', (socket: TLSSocket) => {
    if (isCertified(socket)) return serve?.call(server, socket)
    const problem = certificateNeeded(socket)
    log('CLIENT_NOT_CERTIFIED', socket)
    const end = setTimeout(() => socket.destroy(), REFUSAL_MS)
    socket.once('close', () => clearTimeout(end))
    socket.on('error', () => socket.destroy())
    socket.once('data', () => writeProblem(socket, problem))
  })
}

// In place of what Node does with them: a handler of broken requests would write into a handshake.
function tellFailedHandshakes(server: Listener, logger: Logger): void {
  const shaking = new Map<string, Socket>()
  const log = createRareLog(logger)
  server.on('connection', (socket) => {
    const name = nameOf(socket)
    shaking.set(name, socket)
    socket.once('close', () => shaking.delete(name))
  })
  server.on('secureConnection', (socket: TLSSocket) => shaking.delete(nameOf(socket)))
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
    const plain = shaking.get(nameOf(socket))
    if (codeOf(error) === 'ERR_SSL_HTTP_REQUEST' && plain?.writable === true)
      writeProblem(plain, ONLY_TLS)
    else socket.destroy()
    log(codeOf(error), socket)
  })
}

/** At most one line a second, with how many it stands for. */
function createRareLog(logger: Logger): (code: string, socket: Socket) => void {
  let loggedAt = -Infinity
  let unlogged = 0
  return (code, { remoteAddress }) => {
    unlogged += 1
    if (performance.now() - loggedAt < LOGGED_EVERY_MS) return
    logger.warn({ event: 'tls.handshake_refused', code, address: remoteAddress, count: unlogged })
    loggedAt = performance.now()
    unlogged = 0
  }
}

const ONLY_TLS = new ProblemError({
  status: 400,
  code: 'BATON_TLS_NEEDED',
  detail: 'this port speaks TLS, and the request came in plain text',
  fix: 'Begin the URL with https.',
})
