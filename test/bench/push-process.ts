// The agent of the benchmark that is called over HTTP: it reads what it is sent and answers at once that it is done.
import { createServer } from 'node:http'
import { TAKEN } from './message.ts'

const answer = JSON.stringify({ outcome: 'complete', ...TAKEN })

createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString())
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
  })
}).listen(Number(process.env['BATON_BENCH_PORT']), '127.0.0.1', () =>
  process.stdout.write('ready\n'),
)
