// Who may hold a socket of a server that is not HTTP/1: bounded in all and per address. One whose caller has not yet proven
// who they are has little time for it, and gives way to a new one; one that is proven is never closed for another.
import type { Socket } from 'node:net'
import { createConnectionTable, nameOf, networkOf } from './connections.ts'
import type { ConnectionBounds, FarEnd } from './connections.ts'

interface SocketLimits extends ConnectionBounds {
  /** How long a socket may be open before its caller has proven who they are. */
  readonly unauthenticatedMs?: number
}

export interface SocketLimit {
  /** Takes a socket in, in place of one that nobody has authenticated where there is no room; false where it is refused, and closed. */
  admit(socket: Socket): boolean
  /** Whoever is at this far end has proven who they are. */
  authenticated(end: FarEnd): void
  /** Closes the socket to this far end. */
  close(end: FarEnd): void
}

const UNAUTHENTICATED_MS = 10_000

export function createSocketLimit(limits: SocketLimits): SocketLimit {
  const { unauthenticatedMs = UNAUTHENTICATED_MS } = limits
  const table = createConnectionTable<Socket>(limits)
  const sockets = new Map<string, Socket>()
  const proofs = new WeakMap<Socket, NodeJS.Timeout>()

  return {
    admit(socket) {
      const name = nameOf(socket)
      const { isAdmitted, toClose } = table.open(socket, networkOf(socket.remoteAddress ?? ''))
      toClose?.destroy()
      if (!isAdmitted) {
        socket.destroy()
        return false
      }
      sockets.set(name, socket)
      const proof = setTimeout(() => socket.destroy(), unauthenticatedMs)
      proofs.set(socket, proof)
      socket.once('close', () => {
        clearTimeout(proof)
        table.close(socket)
        if (sockets.get(name) === socket) sockets.delete(name)
      })
      return true
    },
    authenticated(end) {
      const socket = sockets.get(nameOf(end))
      if (socket === undefined) return
      clearTimeout(proofs.get(socket))
      table.change(socket, { isAuthenticated: true, isBusy: true })
    },
    close: (end) => void sockets.get(nameOf(end))?.destroy(),
  }
}
