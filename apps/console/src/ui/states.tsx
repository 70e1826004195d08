import { Check, Copy, Download, Terminal } from 'lucide-react'
import { useState } from 'react'
import type { ComponentProps, ReactNode } from 'react'
import { isMissing, messageOf } from '../api/client.ts'
import { csvOf, saveCsv } from '../format/csv.ts'
import type { CsvColumn } from '../format/csv.ts'
import { curlOf } from '../format/curl.ts'
import type { Request } from '../format/curl.ts'
import { t } from '../texts.ts'
import { Button, classes } from './button.tsx'
import { Modal } from './modal.tsx'
import { announce } from './toasts.tsx'
import styles from './ui.module.css'
import { Literal } from './values.tsx'

export function CopyButton({ text, label = t.common.copy }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1_500)
  }
  return (
    <Button tone="quiet" onClick={() => void copy()}>
      {isCopied ? <Check aria-hidden /> : <Copy aria-hidden />}
      {isCopied ? t.common.copied : label}
    </Button>
  )
}

interface PreProps extends ComponentProps<'pre'> {
  readonly label: string
}

/** Text that scrolls, also by keyboard. */
export const Pre = ({ label, ...rest }: PreProps) => (
  <pre tabIndex={0} role="region" aria-label={label} {...rest} />
)

/** Text to read and copy, such as a command. */
export function Code({ children, label }: { children: string; label: string }) {
  return (
    <div className={styles['code']}>
      <Pre label={label}>
        <Literal lines>{children}</Literal>
      </Pre>
      <CopyButton text={children} />
    </div>
  )
}

/** Shows a request as a command: that of a form, or a path to read. */
export function CurlButton({ request }: { request: (() => Request) | string }) {
  const [shown, setShown] = useState<string | null>(null)
  const show = () => {
    const asked = typeof request === 'string' ? { method: 'GET', path: request } : request()
    setShown(curlOf(asked, location.origin))
  }
  return (
    <>
      <Button tone="quiet" onClick={show}>
        <Terminal aria-hidden />
        {t.common.showAsCurl}
      </Button>
      <Modal
        title={t.common.showAsCurl}
        isOpen={shown !== null}
        onClose={() => setShown(null)}
        wide
      >
        <p className={styles['muted']}>{t.common.curlHint}</p>
        <Code label={t.common.command}>{shown ?? ''}</Code>
      </Modal>
    </>
  )
}

interface CsvButtonProps<T> {
  /** Name of the file, without its ending. */
  readonly name: string
  readonly columns: readonly CsvColumn<T>[]
  /** Reads the rows, of all pages where the list has more than one. */
  readonly rows: () => Promise<readonly T[]>
}

/** Saves a list as a CSV file. */
export function CsvButton<T>({ name, columns, rows }: CsvButtonProps<T>) {
  const [isBusy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    try {
      saveCsv(name, csvOf(columns, await rows()))
    } catch (error) {
      announce(t.common.exportFailed, messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button tone="quiet" disabled={isBusy} onClick={() => void save()}>
      <Download aria-hidden />
      {t.common.exportCsv}
    </Button>
  )
}

export interface EmptyProps {
  readonly title: string
  readonly children?: ReactNode
  /** The request that makes it not empty. */
  readonly request?: Request
  /** In the place of a request. */
  readonly command?: string
}

/** Nothing to show, and the next step. */
export function Empty({ title, children, request, command }: EmptyProps) {
  const code = command ?? (request && curlOf(request, location.origin))
  return (
    <div className={styles['empty']}>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {code !== undefined && <Code label={t.common.command}>{code}</Code>}
    </div>
  )
}

export function Note({
  tone,
  children,
}: {
  tone: 'deny' | 'wait' | 'info' | 'allow'
  children: ReactNode
}) {
  return <div className={classes(styles['note'], styles[tone])}>{children}</div>
}

/** A failed request, in the words of the server. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div role="alert" className={classes(styles['note'], styles['deny'])}>
      <Literal as="span">{messageOf(error)}</Literal>
      {onRetry && <Button onClick={onRetry}>{t.common.retry}</Button>}
    </div>
  )
}

/** The record of an address that no longer exists, or never did. */
export const Missing = ({ title = t.common.missing }: { title?: string }) => (
  <Empty title={title}>{t.common.missingText}</Empty>
)

const LINES = [1, 2, 3, 4, 5, 6]

export function Skeleton() {
  return (
    <div className={styles['skeleton']} role="status" aria-label={t.common.loading}>
      {LINES.map((line) => (
        <span key={line} />
      ))}
    </div>
  )
}

export interface LoadedProps<T> {
  readonly query: { data: T | undefined; error: unknown; refetch: () => unknown }
  /** In place of the words for a record that does not exist. */
  readonly missing?: ReactNode
  readonly children: (data: T) => ReactNode
}

/** The three states of a query. Data stays visible while a later attempt fails. */
export function Loaded<T>({ query, missing, children }: LoadedProps<T>) {
  const failure = query.error ? (
    <Failure error={query.error} onRetry={() => void query.refetch()} />
  ) : null
  if (query.data === undefined) {
    if (isMissing(query.error)) return missing ?? <Missing title={messageOf(query.error)} />
    return failure ?? <Skeleton />
  }
  return (
    <>
      {failure}
      {children(query.data)}
    </>
  )
}
