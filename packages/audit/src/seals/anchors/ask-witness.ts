// One request to a witness, which is a stranger's server: it is believed for what it signs, and costs no more than is said here.

export interface WitnessAnswer {
  readonly status: number
  readonly body: string
}

interface WitnessRequest {
  /** What is posted; nothing asks with GET. */
  readonly body?: string
  readonly timeoutMs: number
}

/** A checkpoint with a hundred cosignatures has a tenth of it. */
const BYTES_MAX = 131_072

/** Follows no redirect, and rejects for an answer that is too long or too late, as where there is none. */
export async function askWitness(
  url: URL,
  { body, timeoutMs }: WitnessRequest,
): Promise<WitnessAnswer> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, body: await boundedText(response) }
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    // Leaving the loop ends the connection.
    if (bytes > BYTES_MAX) throw new Error(`the answer has more than ${BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
