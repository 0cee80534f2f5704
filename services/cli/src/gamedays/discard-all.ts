// What mends a day on which the scanner stopped messages that nobody wants.
import type { Scene } from './game-day.ts'

/** Calms the load, and discards the first 200 dead letters, one by one as a person would. */
export async function discardAll({ load, baton, pause }: Scene): Promise<void> {
  load.calm()
  await pause(2_000)
  const data = await baton('dlq', 'ls', '--limit', '200')
  for (const { handoffId } of JSON.parse(data) as readonly { handoffId: string }[])
    await baton('dlq', 'discard', handoffId)
}
