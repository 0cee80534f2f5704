// Speaks to a Redis without its driver, which belongs to the transport package.
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { SecureContext } from 'node:tls'

/** Sends commands one after the other and answers the last short reply. Throws when one is refused. */
export async function sendToRedis(
  url: string,
  commands: readonly (readonly string[])[],
  tls?: { toOwn(): SecureContext | undefined },
): Promise<string> {
  const { protocol, hostname: host, port: given, password } = new URL(url)
  const port = Number(given || 6_379)
  const socket =
    protocol === 'rediss:'
      ? connectTls({ host, port, secureContext: tls?.toOwn() })
      : connect({ host, port })
  try {
    if (password !== '') await ask(socket, ['AUTH', decodeURIComponent(password)])
    let reply = ''
    for (const command of commands) reply = await ask(socket, command)
    return reply
  } finally {
    socket.destroy()
  }
}

async function ask(socket: Socket, command: readonly string[]): Promise<string> {
  const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`)
  socket.write(`*${command.length}\r\n${parts.join('')}`)
  const [reply] = (await once(socket, 'data')) as [Buffer]
  if (reply.toString().startsWith('-')) throw new Error(`Redis refused: ${reply.toString().trim()}`)
  return reply.toString()
}
