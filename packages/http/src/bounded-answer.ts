// What an answer holds, bounded as it comes out of its content coding: a few bytes on the wire may be any number there.
import { permanent } from '@baton/runtime'

/** The same answer, whose body fails with BATON_ANSWER_TOO_LARGE once more than `bytesMax` of it were read. */
export function boundedAnswer(answer: Response, bytesMax: number): Response {
  if (answer.body === null) return answer
  let left = bytesMax
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.byteLength
      if (left < 0) throw tooLarge(bytesMax)
      controller.enqueue(chunk)
    },
  })
  return new Response(answer.body.pipeThrough(counting), answer)
}

export const tooLarge = (bytesMax: number) =>
  permanent('BATON_ANSWER_TOO_LARGE', `the answer takes more than ${bytesMax} bytes`, {
    fix: 'Answer less: keep large results elsewhere, and answer where they are.',
  })
