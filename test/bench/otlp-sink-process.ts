// A collector that takes everything and keeps nothing: what telemetry costs a process, not what a collector does with it.
import { createServer } from 'node:http'

let bytes = 0
let requests = 0
const server = createServer((request, response) => {
  requests += 1
  request.on('data', (chunk: Buffer) => (bytes += chunk.length))
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
})
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => process.stdout.write('ready\n'))
process.on('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify({ requests, bytes })}\n`)
  process.exit(0)
})
