// Deletes one test's keys from a shared Redis, as FLUSHALL would from a Redis of its own.
import { once } from 'node:events'
import { connect } from 'node:net'

const DELETE_BY_PREFIX = `for _, key in ipairs(redis.call('keys', ARGV[1] .. ':*')) do redis.call('del', key) end return 1`

/** Speaks the Redis protocol itself: the driver belongs to the transport package. */
export async function deleteKeys(url: string, prefix: string): Promise<void> {
  const { hostname, port, password } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port || 6_379) })
  try {
    if (password !== '') await ask(socket, ['AUTH', decodeURIComponent(password)])
    await ask(socket, ['EVAL', DELETE_BY_PREFIX, '0', prefix])
  } finally {
    socket.destroy()
  }
}

async function ask(socket: ReturnType<typeof connect>, command: readonly string[]): Promise<void> {
  const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`)
  socket.write(`*${command.length}\r\n${parts.join('')}`)
  const [reply] = (await once(socket, 'data')) as [Buffer]
  if (reply.toString().startsWith('-')) throw new Error(`Redis refused: ${reply.toString().trim()}`)
}
