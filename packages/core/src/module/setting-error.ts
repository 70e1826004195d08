/** A setting that a module cannot use: the server does not start. The message never shows a secret. */
export class SettingError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SettingError'
  }
}
