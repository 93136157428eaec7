### 保存的粘贴文本行。

kept-title = 未被任何记录识别的行
kept-own = 您让我们保存的内容
kept-offer = 显示未被任何记录识别的行（不含名称）
kept-none = 这段文本中没有看起来像未知错误的行。
kept-are-more = 这段文本中看起来像错误的行太多，以下只涉及开头部分。
kept-would-be-kept = 只会保存以下内容。看起来像名称、地址、私人路径或机密的内容已被替换，但可能有遗漏。发送前请先阅读。
kept-lines = 将要保存的内容
kept-means = 您可以删除其中的行或词。编辑会看到这些内容，并可能据此编写记录。
kept-keep = 保存这些行
kept-link = 删除这些行的链接
kept-link-means = 请保存此链接，之后无法再次获取。
kept-delete = 删除
kept-delete-means = 通过此链接保存的内容将被永久删除。
kept-deleted = 已删除。
kept-kept = 这些行将保存到 { $until }。
