//! A form of a page as a browser sends it back: its fields with their values, read from the HTML that this server writes.

use crate::browser::Browser;

pub struct PageForm {
    pub action: String,
    pub fields: Vec<(String, String)>,
}

impl PageForm {
    /// The form with this attribute.
    pub fn of(page: &str, mark: &str) -> Self {
        let at = page
            .find(mark)
            .unwrap_or_else(|| panic!("no form {mark}: {page}"));
        let start = page[..at].rfind("<form").unwrap();
        let end = start + page[start..].find("</form>").unwrap();
        let form = &page[start..end];
        let head = &form[..form.find('>').unwrap()];
        Self {
            action: attribute(head, "action").unwrap(),
            fields: fields(form),
        }
    }

    pub fn get(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|(field, _)| field == name);
        &found.unwrap_or_else(|| panic!("no field {name}")).1
    }

    pub fn set(&mut self, name: &str, value: &str) -> &mut Self {
        self.fields.retain(|(field, _)| field != name);
        self.fields.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends it with a button, lines ended as browsers end them.
    pub async fn send(&self, browser: &mut Browser, button: (&str, &str)) -> reqwest::Response {
        let mut fields: Vec<(&str, String)> = self
            .fields
            .iter()
            .filter(|(name, _)| name != "csrf")
            .map(|(name, value)| (name.as_str(), value.replace("\r\n", "\n").replace('\n', "\r\n")))
            .collect();
        fields.extend(Some((button.0, button.1.to_owned())).filter(|(name, _)| !name.is_empty()));
        let fields: Vec<(&str, &str)> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        browser.form(&self.action, &fields).send().await.unwrap()
    }

    /// Sends it with a button that has no name.
    pub async fn send_plain(&self, browser: &mut Browser) -> reqwest::Response {
        self.send(browser, ("", "")).await
    }
}

fn fields(form: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = form;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let Some(end) = rest.find('>') else { break };
        let tag = &rest[..end];
        let name = attribute(tag, "name");
        let inner = |closing: &str| {
            let body = &rest[end + 1..];
            body[..body.find(closing).unwrap()].to_owned()
        };
        if let Some(name) = name {
            if tag.starts_with("<input") {
                let boxed = attribute(tag, "type").as_deref() == Some("checkbox");
                if !boxed || tag.contains(" checked") {
                    found.push((name, attribute(tag, "value").unwrap_or_default()));
                }
            } else if tag.starts_with("<textarea") {
                // The first line break belongs to the page.
                let text = inner("</textarea>");
                found.push((name, unescaped(text.strip_prefix('\n').unwrap_or(&text))));
            } else if tag.starts_with("<select") {
                let chosen = inner("</select>");
                let option = chosen
                    .split("<option")
                    .find(|option| option.contains(" selected"));
                let value = option.and_then(|option| attribute(option, "value"));
                found.push((name, value.unwrap_or_default()));
            }
        }
        rest = &rest[end..];
    }
    found
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    Some(unescaped(rest.split('"').next()?))
}

fn unescaped(text: &str) -> String {
    [
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#38;", "&"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (escape, plain)| {
        text.replace(escape, plain)
    })
}
