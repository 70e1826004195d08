import { Readable } from 'node:stream'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createPublicKey } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Command } from 'commander'
import { Ledger } from '@remit/core/ledger/records'
import {
  recoverLedger,
  listOrganizations,
  rotateLedgerKey,
  fileArchive,
  finishPruning,
  planPruning,
  pruneLedger,
  eraseEntries,
} from '@remit/core/orgs'
import type {
  Pruned,
  PrunePlan,
  PruneQuestion,
  PruneStep,
  PruneUpTo,
  Erasure,
} from '@remit/core/orgs'
import type { Database } from '@remit/core/db/open'
import { eachPart, inPart } from '@remit/core/db'
import type { CoreTables, OrganizationRow } from '@remit/core/db'
import {
  generateLedgerKey,
  NoteError,
  parseVerifierKey,
  createLedgerSigner,
} from '@remit/core/ledger/proofs'
import { readCheckpointFile, verifyCommand } from './ledger-verify.ts'
import { organizationOf } from './session.ts'
import type { CommandRun } from './session.ts'
import {
  orgOption,
  subcommand,
  readReason,
  readCount,
  readEmail,
  readTime,
  userPath,
} from './options.ts'
import { admitFile, REPLACE, writeWhole, readPrivateKey, writeSecret, writing } from './files.ts'
import { createProgress, facts, printable } from './table.ts'
import type { Progress } from './table.ts'
import { ledgerKeyFile } from '../settings/ledger-key.ts'
import {
  checkLog,
  LogAlarm,
  createLogClient,
  NoAnswer,
  readState,
  WatchStateError,
  writeState,
} from '../watch/watch.ts'
import type { Look, LogClient } from '../watch/watch.ts'
import { CliError, EXIT } from './errors.ts'
import type { Booted } from '../boot/boot.ts'

export function ledgerCommands(program: Command, session: CommandRun): void {
  const ledger = program
    .command('ledger')
    .description('Verify, export and maintain the ledger of an organization')
  for (const add of [
    verifyCommand,
    exportCommand,
    checkpointCommand,
    watchCommand,
    ledgerKeyCommands,
    recoverCommand,
    eraseCommand,
    pruneCommand,
  ]) {
    add(ledger, session)
  }
}

function checkpointCommand(ledger: Command, session: CommandRun): void {
  subcommand(ledger, 'checkpoint', 'Print the newest signed checkpoint, for external storage')
    .addOption(orgOption())
    .action(({ org }: { org?: string }) =>
      session.database(async (db) => {
        const { id } = await organizationOf(db, org)
        const { origin, size, hash, vkey, note } = await new Ledger(db).head(id)
        session.print({ org_id: id, origin, size, hash, vkey, note }, note)
        // Separate from the note, which must be printed exactly.
        if (!session.json) session.io.stderr.write(`verifier key: ${vkey}\n`)
      }),
    )
}

interface RecoverOptions {
  readonly org?: string
  readonly checkpoint: string
  readonly reason: string
  readonly vkey?: string
}

function recoverCommand(ledger: Command, session: CommandRun): void {
  subcommand(ledger, 'recover', 'Record that a restore from a backup lost entries')
    .addOption(orgOption())
    .requiredOption('--checkpoint <file>', 'File with the newest external checkpoint')
    .requiredOption('--reason <text>', 'Description of the incident, for the ledger')
    .option('--vkey <vkey>', 'Verifier key of the checkpoint, if it differs from the ledger’s')
    .action(({ org, checkpoint: file, reason, vkey }: RecoverOptions) =>
      session.changing(org, async ({ remit }, { id }) => {
        readReason(reason)
        const recovery = await recoverLedger(remit.writer, id, {
          checkpoint: readCheckpointFile(file).note,
          reason,
          ...(vkey !== undefined && { vkey }),
        })
        const { seq, lost } = recovery
        session.print(
          { org_id: id, ...recovery },
          `Recorded as entry ${seq}: the signed entries ${lost.from_seq} to ${lost.to_seq} are lost.\n`,
        )
      }),
    )
}

interface ExportOptions {
  readonly org?: string
  readonly out?: string
  readonly replace?: boolean
  readonly afterSeq?: string
}

function exportCommand(ledger: Command, session: CommandRun): void {
  subcommand(ledger, 'export', 'Write the ledger as NDJSON, for `ledger verify --file`')
    .addOption(orgOption())
    .option('--out <file>', 'File to write atomically; default: standard output')
    .option(...REPLACE)
    .option('--after-seq <seq>', 'Start after this sequence number')
    .action(({ org, out, replace, afterSeq: after }: ExportOptions) =>
      session.database(async (db) => {
        if (out !== undefined) admitFile(out, replace)
        const { id } = await organizationOf(db, org)
        const afterSeq = after === undefined ? undefined : readCount('--after-seq', after)
        const count = { lines: 0 }
        const chunks = counted(await new Ledger(db).export(id, { afterSeq }), session, count)
        await (out === undefined ? toStream(chunks, session.io.stdout) : writeWhole(chunks, out))
        // All lines except the header and the checkpoint are entries.
        const entries = count.lines - 2
        if (out !== undefined) {
          session.print(
            { org_id: id, file: out, entries },
            `${entries} entries written to ${out}.\n`,
          )
        }
      }),
    )
}

async function* counted(
  chunks: AsyncIterable<string>,
  session: CommandRun,
  count: { lines: number },
): AsyncGenerator<string> {
  const progress = createProgress(session.io.stderr, (done) => `exported ${done} entries`)
  for await (const chunk of chunks) {
    count.lines += chunk.split('\n').length - 1
    progress.update(count.lines)
    yield chunk
  }
  progress.end()
}

const toStream = (chunks: AsyncIterable<string>, stream: Writable): Promise<void> =>
  pipeline(Readable.from(chunks), stream, { end: false })

interface RotateOptions {
  readonly org?: string
  readonly newKey: string
  readonly person?: string
}

function ledgerKeyCommands(ledger: Command, session: CommandRun): void {
  subcommand(
    ledger,
    'keygen <file>',
    'Create an Ed25519 key that signs ledgers; an existing file is not replaced',
  ).action((file: string) => {
    const pem = generateLedgerKey()
    writeSecret(file, pem)
    const { x } = createPublicKey(pem).export({ format: 'jwk' })
    const public_key = Buffer.from(String(x), 'base64url').toString('base64')
    session.print({ file, public_key }, facts({ 'private key': file, 'public key': public_key }))
  })

  subcommand(
    ledger,
    'rotate-key',
    'Rotate the signing key of a ledger; the old key signs the change',
  )
    .addOption(orgOption())
    .requiredOption('--new-key <file>', 'New key file from `ledger keygen`')
    .option('--person <e-mail>', 'Person who ordered it, for the ledger')
    .action(({ org, newKey: file, person }: RotateOptions) =>
      session.changing(org, async ({ db, clock, ledgerKey: oldKey, config }, { id }) => {
        const newKey = readPrivateKey(file)
        const by = person === undefined ? undefined : readEmail(person)
        const rotation = await rotateLedgerKey({ db, clock, oldKey, newKey, person: by }, id)
        const others = await leftBehind(db, id)
        session.print(
          { org_id: id, ...rotation, others_on_old_key: others.map((other) => other.id) },
          facts({ 'new verifier key': rotation.new_vkey, 'recorded as entry': rotation.seq }) +
            `Servers can write this ledger again after ${ledgerKeyFile(config)} contains the new key.\n` +
            (others.length > 0
              ? `A server has one key: rotate these organizations too: ${others.map(({ name }) => name).join(', ')}\n`
              : '') +
            `\n${rotation.checkpoint}`,
        )
      }),
    )
}

/** Returns the organizations whose ledgers are signed with another key than that one's. */
async function leftBehind(db: Database<CoreTables>, id: string): Promise<OrganizationRow[]> {
  const parts = await eachPart(
    db,
    (part) => db.selectFrom('ledger_head').select(['org_id', 'vkey']).where(inPart(part)).execute(),
    () => undefined,
  )
  const heads = parts.flat()
  // After the name and the key id; base64 may contain a plus too.
  const keyOf = (vkey: string) => vkey.split('+').slice(2).join('+')
  const current = heads.find((head) => head.org_id === id)
  const behind = new Set(
    heads.flatMap((head) =>
      current && keyOf(head.vkey) !== keyOf(current.vkey) ? [head.org_id] : [],
    ),
  )
  return (await listOrganizations(db)).filter((organization) => behind.has(organization.id))
}

interface WatchOptions {
  readonly key?: string
  readonly state: string
  readonly interval: string
  readonly once?: true
  readonly vkey?: string
}

function watchCommand(ledger: Command, session: CommandRun): void {
  subcommand(ledger, 'watch <url>', 'Monitor a ledger: check that it is append-only')
    .option('--key <key>', 'Key of the organization with the role read; default: REMIT_KEY')
    .requiredOption('--state <file>', 'State file with the pinned key and the last checkpoint')
    .option('--interval <seconds>', 'Seconds between checks', '60')
    .option('--once', 'Check once and exit')
    .option(
      '--vkey <vkey>',
      'Verifier key of the ledger from a trusted source; default: pin the first key seen',
    )
    .action((url: string, options: WatchOptions) => watch(session, url, options))
}

async function watch(session: CommandRun, url: string, options: WatchOptions): Promise<void> {
  const key = options.key ?? session.io.env['REMIT_KEY']
  if (!key) throw new CliError('--key or REMIT_KEY is required')
  if (!/^https?:/.test(url) || !URL.canParse(url))
    throw new CliError(`${url} is not an http or https URL`)
  const seconds = Number(options.interval)
  if (!(seconds >= 1 && seconds <= 86_400))
    throw new CliError('--interval must be 1 to 86400 seconds')
  const client = createLogClient(url, key)
  if (options.once) return lookOnce(session, client, options)

  const ended = session.io.endSignal()
  while (!ended.aborted) {
    try {
      await lookOnce(session, client, options)
    } catch (error) {
      if (!(error instanceof NoAnswer) || !error.passing) throw error
      session.io.stderr.write(`remit: ${printable(error.message)}\n`)
    }
    // An abort only ends the pause; the loop checks it.
    await setTimeout(seconds * 1000, undefined, { signal: ended }).catch(() => undefined)
  }
}

async function lookOnce(
  session: CommandRun,
  client: LogClient,
  options: WatchOptions,
): Promise<void> {
  try {
    const last = readState(userPath(options.state))
    if (options.vkey !== undefined) parseVerifierKey(options.vkey)
    const look = await checkLog(client, last, options.vkey, new Date().toISOString())
    writeState(userPath(options.state), look.state)
    report(session, look)
  } catch (error) {
    if (error instanceof LogAlarm) {
      throw new CliError(`ALARM, ${error.kind}: ${error.message}`, EXIT.failed)
    }
    if (error instanceof WatchStateError) throw new CliError(error.message)
    if (error instanceof NoteError) throw new CliError(`--vkey: ${error.message}`)
    throw error
  }
}

function report(session: CommandRun, { state, pinned, grown }: Look): void {
  const { vkey, size, root, checked_at } = state
  const { name: origin } = parseVerifierKey(vkey)
  if (pinned) {
    session.io.stderr.write(
      `remit: pinned the key that the log returned; compare it with a trusted copy: ${vkey}\n`,
    )
  }
  const growth =
    grown === null ? 'first check' : grown === 0 ? 'unchanged' : `${grown} new entries, append-only`
  session.print(
    { status: 'ok', origin, size, root, grown, pinned, vkey, checked_at },
    `${checked_at} ok: ${size} entries (${growth})\n`,
  )
}

interface PruneOptions {
  readonly org?: string
  readonly before?: string
  readonly keepDays?: string
  readonly export: string
  readonly reason: string
  readonly person?: string
  readonly acknowledgeShortRetention?: true
  readonly yes?: true
}

function pruneCommand(ledger: Command, session: CommandRun): void {
  subcommand(ledger, 'prune', 'Remove the oldest entries after exporting them to a file')
    .addOption(orgOption())
    .option('--before <time>', 'Remove entries recorded before this date or RFC 3339 time')
    .option('--keep-days <days>', 'Remove entries older than this number of days')
    .requiredOption('--export <file>', 'File for the removed entries; it must not exist')
    .option('--reason <text>', 'Reason, for the ledger', 'the retention of the organization')
    .option('--person <e-mail>', 'Person who ordered it, for the ledger')
    .option('--acknowledge-short-retention', 'Confirm that a retention below 183 days is intended')
    .option('--yes', 'Prune; without it, only print the plan')
    .action((options: PruneOptions) =>
      session.changing(options.org, async (booted, { id }) => {
        const question = {
          upTo: upToOf(options),
          acknowledgeShortRetention: options.acknowledgeShortRetention ?? false,
        }
        await (options.yes
          ? prune(session, booted, id, question, options)
          : preview(session, booted, id, question))
      }),
    )
}

function upToOf({ before, keepDays }: PruneOptions): PruneUpTo {
  if ((before === undefined) === (keepDays === undefined)) {
    throw new CliError('--before or --keep-days is required')
  }
  return before === undefined
    ? { keepDays: readCount('--keep-days', keepDays ?? '') }
    : { before: readTime('--before', before) }
}

async function preview(
  session: CommandRun,
  { db, clock }: Booted,
  id: string,
  question: PruneQuestion,
): Promise<void> {
  const plan = await planPruning(db, id, question, clock.now())
  for (const warning of plan?.warnings ?? []) session.warn(warning)
  session.print(
    { org_id: id, planned: plan && factsOf(plan), pruned: null },
    plan === null ? NOTHING : `${shown(plan)}Nothing was removed; add --yes to prune.\n`,
  )
}

const NOTHING = 'Nothing to prune: no stored checkpoint precedes the entries to keep.\n'

async function prune(
  session: CommandRun,
  { db, clock, remit, ledgerKey }: Booted,
  id: string,
  question: PruneQuestion,
  { export: file, reason, person }: PruneOptions,
): Promise<void> {
  const onStep = progressOf(session)
  // Removes the rows that an interrupted pruning left.
  const left = await finishPruning(db, id, onStep)
  const signer = createLedgerSigner(ledgerKey)
  const pruned = await writing(file, (path) =>
    pruneLedger({ db, clock, signer, writer: remit.writer }, id, {
      ...question,
      archive: fileArchive(path),
      reason: readReason(reason),
      person: person === undefined ? undefined : readEmail(person),
      onStep,
    }),
  ).finally(onStep.end)
  for (const warning of pruned?.plan.warnings ?? []) session.warn(warning)
  if (!left.log_emptied || pruned?.log_emptied === false) session.warn(FULL_LOG)
  session.print(
    {
      org_id: id,
      planned: null,
      left_over: left.removed,
      pruned: pruned && resultOf(pruned, file),
    },
    (left.removed > 0 ? `Removed ${left.removed} entries left by an interrupted pruning.\n` : '') +
      (pruned === null ? NOTHING : `${shown(pruned.plan)}${done(pruned, file)}`),
  )
}

const factsOf = ({ from_seq, cut, cutoff, retention_days, short, warnings }: PrunePlan) => ({
  from_seq,
  cut,
  entries: cut - from_seq,
  cutoff,
  retention_days,
  short,
  warnings,
})

const resultOf = ({ plan, seq, export_sha256, carried, removed }: Pruned, file: string) => ({
  ...factsOf(plan),
  seq,
  file,
  export_sha256,
  carried,
  removed,
})

const shown = ({ from_seq, cut, cutoff, retention_days }: PrunePlan): string =>
  facts({
    'entries to remove': `${cut - from_seq}, seq ${from_seq} to ${cut - 1}`,
    'recorded before': cutoff,
    'retention in days': retention_days,
  })

const done = ({ seq, export_sha256, carried }: Pruned, file: string): string =>
  facts({
    export: file,
    'sha-256': export_sha256,
    'carried over': `${carried} entries`,
    'recorded as entry': seq,
  })

/** Prints one progress line per step. */
function progressOf({ io }: CommandRun) {
  let current: { readonly step: PruneStep; readonly progress: Progress } | null = null
  const end = () => current?.progress.end()
  const onStep = (step: PruneStep, count: number) => {
    if (current?.step !== step) {
      end()
      current = { step, progress: createProgress(io.stderr, (of) => `${step} ${of} entries`) }
    }
    current.progress.update(count)
  }
  return Object.assign(onStep, { end })
}

interface EraseOptions {
  readonly org?: string
  readonly seq: readonly string[]
  readonly reason: string
  readonly person?: string
}

function eraseCommand(ledger: Command, session: CommandRun): void {
  subcommand(
    ledger,
    'erase',
    'Erase the payloads of entries permanently; the entries themselves remain',
  )
    .addOption(orgOption())
    .requiredOption('--seq <seq...>', 'Sequence numbers of the entries')
    .requiredOption('--reason <text>', 'Reason, for the ledger')
    .option('--person <e-mail>', 'Person who ordered it, for the ledger')
    .action(({ org, seq, reason, person }: EraseOptions) =>
      session.changing(org, async ({ db, remit }, { id }) => {
        const erasure = await eraseEntries({ ...remit, db }, id, {
          seqs: seq.map((text) => readCount('--seq', text)),
          reason: readReason(reason),
          person: person === undefined ? undefined : readEmail(person),
        })
        if (!erasure.log_emptied) session.warn(FULL_LOG)
        session.print({ org_id: id, ...erasure }, described(erasure))
      }),
    )
}

/** Also used after a pruning. */
export const FULL_LOG =
  'another process keeps reading the database, so the write-ahead log still contains the erased data: restart the server to truncate it'

const described = ({ seq, seqs }: Erasure): string =>
  `Erased: ${seqs.join(', ')}. Recorded as entry ${seq}. Backups contain the data until they expire.\n`
