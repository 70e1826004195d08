/** Folders of documents of policy sets: YAML 1.2 or JSON, any number of files and documents. */
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { API_VERSION, MAX_DOCUMENTS, OBJECT_KINDS, PolicyDocument } from '@remit/contract'
import type { FieldError, StoredDocument } from '@remit/contract'
import { numberFault, parseStrictJson, StrictJsonError } from '@remit/contract/json'
import { isAlias, isMap, isScalar, LineCounter, parseAllDocuments, stringify, visit } from 'yaml'
import type { Document, Node } from 'yaml'
import { makeFolder } from '@remit/core/base'
import { fileFault } from '../settings/read-file.ts'
import { CliError, EXIT } from './errors.ts'
import { readText, REPLACE, writeWhole, writing } from './files.ts'
import { userPath } from './options.ts'

/** A document of a file. */
export interface FileDocument {
  readonly value: unknown
  /** Returns the file and the line of a member, such as `spec.condition`, or of what is around it. */
  place(path: readonly string[]): string
}

const FILE = /\.(?:ya?ml|json)$/

/**
 * Reads all documents of a folder, in the order of the names of their files.
 *
 * @throws CliError with file and line for a text that is not YAML or JSON as the API reads it.
 */
export function readFolder(folder: string): FileDocument[] {
  const documents = filesOf(folder).flatMap((file) => readFile(file))
  if (documents.length === 0)
    throw new CliError(`${folder} has no documents in files *.yaml, *.yml or *.json`, EXIT.failed)
  if (documents.length > MAX_DOCUMENTS)
    throw new CliError(`${folder} has more than ${MAX_DOCUMENTS} documents`, EXIT.failed)
  return documents
}

function filesOf(folder: string): string[] {
  try {
    const root = userPath(folder)
    if (!statSync(root).isDirectory()) throw new CliError(`${folder} is not a folder`)
    return readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => FILE.test(name) && statSync(join(root, name)).isFile())
      .toSorted()
      .map((name) => join(folder, name))
  } catch (error) {
    throw error instanceof CliError
      ? error
      : new CliError(`${folder} cannot be read: ${fileFault(error)}`)
  }
}

function readFile(file: string): FileDocument[] {
  const text = readText(file)
  const lines = new LineCounter()
  const refuse = (offset: number, why: string) => {
    const { line, col } = lines.linePos(offset)
    return new CliError(`${file}:${line}:${col}: ${why}`, EXIT.failed)
  }
  const found = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    uniqueKeys: true,
    strict: true,
    merge: false,
    lineCounter: lines,
  })
  if (!Array.isArray(found)) return []
  for (const { errors, warnings } of found) {
    const [fault] = [...errors, ...warnings]
    if (fault) throw refuse(fault.pos[0], fault.message.split('\n', 1)[0] ?? fault.code)
  }
  for (const document of found) if (document.contents !== null) checkNodes(document, refuse)
  if (file.endsWith('.json')) checkJson(file, text)
  return found.flatMap((document) => {
    if (document.contents === null) return []
    const place = (path: readonly string[]) => {
      const { line } = lines.linePos(nodeAt(document, path)?.range?.[0] ?? 0)
      return `${file}:${line}`
    }
    return [{ value: document.toJS() as unknown, place }]
  })
}

function checkJson(file: string, text: string): void {
  try {
    parseStrictJson(Buffer.from(text))
  } catch (error) {
    throw error instanceof StrictJsonError
      ? new CliError(`${file}: ${error.reason}`, EXIT.failed)
      : error
  }
}

/** Refuses what JSON lacks or another reader reads in another way. */
function checkNodes(document: Document, refuse: (offset: number, why: string) => CliError): void {
  visit(document, {
    Node(key, node) {
      const at = node.range?.[0] ?? 0
      if (isAlias(node) || ('anchor' in node && node.anchor !== undefined))
        throw refuse(at, 'must not have anchors and aliases')
      if (node.tag !== undefined) throw refuse(at, `must not have tags: ${node.tag}`)
      if (!isScalar(node)) return
      if (key === 'key' && typeof node.value !== 'string')
        throw refuse(at, 'must have names that are strings')
      if (key === 'key' && node.value === '<<') throw refuse(at, 'must not have merge keys')
      if (typeof node.value !== 'number') return
      const isFinite = Number.isFinite(node.value)
      const fault =
        numberFault(node.source ?? '') ?? (isFinite ? null : 'The number is not finite.')
      if (fault !== null) throw refuse(at, fault)
    },
  })
}

/** The node of a member, or of the last part of its path that exists. */
function nodeAt(document: Document, path: readonly string[]): Node | null {
  for (let length = path.length; length > 0; length--) {
    const keys = path.slice(0, length).map((name) => (/^\d+$/.test(name) ? Number(name) : name))
    const parent = document.getIn(keys.slice(0, -1), true)
    const pair = isMap(parent)
      ? parent.items.find(({ key }) => isScalar(key) && key.value === keys.at(-1))
      : null
    const node = (pair?.key ?? document.getIn(keys, true)) as Node | undefined
    if (node) return node
  }
  return document.contents
}

/** Returns the errors of a refusal with file and line, one a line; others as they are. */
export function placedErrors(
  documents: readonly FileDocument[],
  errors: readonly FieldError[],
): string {
  return errors
    .map(({ path, message }) => {
      const [root, index = '', ...rest] = path.split('.')
      const document = root === 'documents' ? documents[Number(index)] : undefined
      if (!document) return `${path}: ${message}`
      return `${document.place(rest)}: ${rest.length === 0 ? '' : `${rest.join('.')} `}${message}`
    })
    .join('\n')
}

/** File of each kind. */
const FILES: Readonly<Record<string, string>> = {
  Settings: 'settings.yaml',
  Policy: 'policies.yaml',
  ApprovalRule: 'approval-rules.yaml',
  Permission: 'permissions.yaml',
  SpendLimit: 'spend-limits.yaml',
  Budget: 'budgets.yaml',
  AgentMode: 'agent-modes.yaml',
  TrustPolicy: 'trust-policies.yaml',
}

/** Writes documents to a file for each kind; returns the names of the files. */
export async function writeFolder(
  folder: string,
  documents: readonly StoredDocument[],
  isReplaced: boolean,
): Promise<string[]> {
  const texts = OBJECT_KINDS.map((kind) => {
    const of = documents.filter((one) => one.kind === kind)
    const text = of
      .map((one) => stringify(withoutDefaults(one), { version: '1.2', lineWidth: 100 }))
      .join('---\n')
    return { file: join(folder, FILES[kind] ?? `${kind}.yaml`), text }
  })
  const existing = texts.filter(({ file }) => statSync(userPath(file), { throwIfNoEntry: false }))
  const [first] = existing
  if (first && !isReplaced)
    throw new CliError(
      `${first.file} already exists and is not replaced; ${REPLACE[0]} replaces it`,
    )
  await writing(folder, (path) => Promise.resolve(makeFolder(path)))
  for (const { file, text } of texts)
    if (text !== '') await writeWhole([text], file)
    else if (existing.some((one) => one.file === file))
      await writing(file, (path) => Promise.resolve(rmSync(path)))
  return texts.filter(({ text }) => text !== '').map(({ file }) => file)
}

/** A document without the members that have their default. */
function withoutDefaults(document: StoredDocument): object {
  const whole = JSON.stringify(PolicyDocument.parse(document))
  const spec: Record<string, unknown> = { ...document.spec }
  for (const name of Object.keys(spec)) {
    const { [name]: _, ...rest } = spec
    const read = PolicyDocument.safeParse({ ...document, spec: rest })
    if (read.success && isSameSpec(JSON.stringify(read.data), whole)) delete spec[name]
  }
  return { apiVersion: API_VERSION, kind: document.kind, name: document.name, spec }
}

const isSameSpec = (a: string, b: string): boolean => sorted(a) === sorted(b)
const sorted = (text: string): string => {
  const { spec } = JSON.parse(text) as { spec: Record<string, unknown> }
  return JSON.stringify(Object.entries(spec).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
