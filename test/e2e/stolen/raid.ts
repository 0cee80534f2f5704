// Every thief tries everything, each on victims of their own; what it came to is told by thief and attempt.
import { ATTEMPTS } from './attempts.ts'
import type { Victims } from './attempts.ts'
import { holdHonestly, tell } from './attack-log.ts'
import { together } from './outcome.ts'
import { OTHERS_MARK, STOPPED_MARK } from './reach.ts'
import { addOther, INJECTION, OTHER } from './scene.ts'
import type { Scene } from './scene.ts'
import { createStopper, takeConnections, takeLocks } from './stop-work.ts'
import { findThieves } from './thieves.ts'

export type Shown = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Makes all attempts; the outcomes that are missing are of thieves who hold nothing to try with. */
export async function raid(scene: Scene): Promise<Shown> {
  const otherKey = await addOther(scene)
  const thieves = await findThieves(scene)
  const stoppers = {
    'stop all work by connections': createStopper(takeConnections),
    'stop all work by locks': createStopper(takeLocks),
  }
  const shown: Record<string, Record<string, string>> = {}
  const failures: string[] = []
  await Promise.all(
    thieves.map(async ({ name, loot }) => {
      const victims = await layOut(scene, otherKey)
      const came: Record<string, string> = {}
      shown[name] = came
      for (const [attempt, make] of Object.entries(ATTEMPTS)) {
        const outcome = await make(scene, loot, victims).then(together, (cause: unknown) => {
          failures.push(`${name}: ${attempt}: ${(cause as Error).stack}`)
          return undefined
        })
        if (outcome !== undefined) came[attempt] = outcome
      }
    }),
  )
  if (failures.length > 0) throw new Error(failures.join('\n'))
  // One after the other, as each of them may stand in everybody's way.
  for (const [attempt, { stop }] of Object.entries(stoppers)) {
    for (const { name, loot } of thieves) {
      const outcome = together(await stop(scene, loot))
      if (outcome !== undefined) (shown[name] ??= {})[attempt] = outcome
    }
  }
  return Object.fromEntries(thieves.map(({ name }) => [name, shown[name] ?? {}]))
}

async function layOut(scene: Scene, otherKey: string): Promise<Victims> {
  const injected = { document: `${INJECTION} ${STOPPED_MARK}` }
  const [stopped, other, waiting, others, told, held] = await Promise.all([
    scene.send({ state: injected }),
    scene.send({ state: injected }),
    scene.send({ constraints: { requiresApproval: true } }),
    scene.send({
      key: otherKey,
      agentId: `${OTHER}/intake`,
      to: `${OTHER}/reader`,
      state: { document: OTHERS_MARK },
    }),
    tell(scene, 'of somebody'),
    tell(scene, 'of somebody whose task is held'),
  ])
  await Promise.all([
    tell(scene, OTHERS_MARK, { taskId: others.taskId }),
    holdHonestly(scene, held.taskId, true),
    ...[stopped, other].map(({ handoffId }) => scene.reaches(handoffId, ['DEAD_LETTERED'])),
  ])
  return { stopped, other, waiting, others, told, held }
}
