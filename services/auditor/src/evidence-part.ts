// The part of the auditor that regulators use: evidence, drills, and the tree hashes that make them fast.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readHeads, readTrace } from '@baton/audit'
import { createNoteSigner, sealLogOrigin } from '@baton/ledger'
import type { Periodic } from '@baton/runtime'
import type { Core, Part } from './core.ts'
import { createDrillAge } from './drill-age.ts'
import type { DrillAge } from './drill-age.ts'
import { runDrill, scheduleDrills } from './drill.ts'
import { createEvidence } from './evidence.ts'
import { readEvidencePolicy } from './evidence-policy.ts'
import { addEvidenceRoutes } from './evidence-routes.ts'
import { nothingOf } from './record-part.ts'
import { createTreeKeeper } from './tree-keeper.ts'

/** Reads keys, policy and page before it adds its routes; without a token for them there are none. */
export function createEvidencePart(core: Core): Part {
  const { settings, reader, writer, vault, batcher, covered, cold, metrics, logger } = core
  let drills: Periodic | undefined
  let age: DrillAge | undefined
  const keeper = createTreeKeeper({ reader, writer, cold, covered, logger })
  return {
    async prepare(server) {
      const mayExport = core.callers.optionalGuard('evidence', settings.BATON_AUDIT_EVIDENCE_TOKEN)
      if (mayExport === undefined) return
      const exporter = await exporterOf(core)
      const file = settings.BATON_EVIDENCE_POLICY_FILE
      const first = await readEvidencePolicy({ ...core, file, exporter })
      // The own one is made anew for each bundle: the key that signs the seals may have been changed.
      const policy = async () =>
        file === undefined ? readEvidencePolicy({ ...core, file, exporter }) : first
      const evidence = createEvidence({
        reader,
        cold,
        vault,
        batcher,
        isSealing: core.sealKey !== undefined,
        waitMs: settings.BATON_EVIDENCE_WAIT_MS,
        exporter,
        policy,
        page: await readFile(fileURLToPath(import.meta.resolve('@baton/ledger/page.html')), 'utf8'),
        metrics,
        logger,
      })
      const everySeconds = settings.BATON_AUDIT_DRILL_EVERY_S
      const schedule = everySeconds > 0 ? 'on' : 'off'
      const gauge = metrics.auditDrillAgeSeconds[schedule]
      age = createDrillAge({ reader, writer, gauge, logger })
      const drilling = { reader, covered, cold, evidence, metrics, age, logger }
      if (everySeconds > 0) drills = scheduleDrills(drilling, everySeconds * 1_000)
      const payloadToken = settings.BATON_AUDIT_PAYLOAD_TOKEN
      addEvidenceRoutes(server, {
        evidence,
        nothingOf: async (taskId) =>
          nothingOf(await readTrace(reader, taskId, { covered: covered(), cold })),
        policyText: async () => (await policy()).text,
        drill: (seed, actor) => runDrill(drilling, { seed, actor }),
        mayExport,
        mayReadTexts: core.callers.optionalGuard('payload', payloadToken),
      })
    },
    async start() {
      await keeper.start()
      await age?.start()
      await drills?.start()
    },
    async stop() {
      await drills?.stop()
      await age?.stop()
      await keeper.stop()
    },
  }
}

/** Named after the log, so that a bundle says where it comes from. */
async function exporterOf({ settings, reader }: Core) {
  const pkcs8 = settings.BATON_EVIDENCE_SIGNING_KEY
  if (pkcs8 === undefined) return undefined
  const origin = sealLogOrigin((await readHeads(reader))[0]?.origin ?? '')
  return createNoteSigner({ name: origin.replace(/seals$/, 'evidence'), pkcs8 })
}
